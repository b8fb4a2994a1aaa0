import Foundation

/// Finds the highest quality whose file is no longer than `limit`, or one near it, in at most six tries. The length grows
/// about as a power of the quality does, so each try lies where a line through the logarithms of the nearest two meets the
/// limit.
struct QualitySearch {
    static let mostTries = 6
    /// The quality at which files are of a usual length; the first try.
    private static let usual = 75
    /// Below the usual quality, files are about half as long at each so many steps.
    private static let halving = 25.0

    private let limit: Int
    private var tries = 0
    /// The best that fits, and the lowest that is too long; each with its logarithm of the length.
    private var fits: (quality: Int, length: Double)?
    private var tooLong: (quality: Int, length: Double)?
    private let most: Int

    init(most: Int, limit: Int) { (self.most, self.limit) = (most, limit) }

    /// The quality to try next; nil at the end.
    var next: Int? {
        let (low, high) = ((fits?.quality ?? 0) + 1, (tooLong?.quality ?? most + 1) - 1)
        guard low <= high, tries < Self.mostTries else { return nil }
        // The last try has to fit if anything does.
        if fits == nil, tries == Self.mostTries - 1 { return low }
        return min(max(guess, low), high)
    }

    private var guess: Int {
        let wanted = log(Double(limit))
        switch (fits, tooLong) {
        case (nil, nil): return Self.usual
        case (let fits?, nil): return fits.quality + max(1, (most - fits.quality + 1) / 2)
        case (nil, let tooLong?):
            return tooLong.quality - max(1, Int((Self.halving * (tooLong.length - wanted) / log(2)).rounded(.up)))
        case (let fits?, let tooLong?):
            let step = Double(tooLong.quality - fits.quality) / max(tooLong.length - fits.length, 1e-9)
            return fits.quality + Int(step * (wanted - fits.length))
        }
    }

    /// Takes the length of a file; returns whether it is the best so far.
    mutating func tried(_ quality: Int, bytes: Int) -> Bool {
        tries += 1
        let length = log(Double(max(bytes, 1)))
        guard bytes <= limit else {
            tooLong = (quality, length)
            return false
        }
        fits = (quality, length)
        return true
    }
}
