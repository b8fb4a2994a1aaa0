import Foundation

/// Finds the highest quality whose file is no longer than `limit`, or a quality near it, in at most six tries. Between
/// a quality that fits and one that doesn't, the next try is interpolated linearly from the lengths of their files. A
/// part of the length may not depend on the quality, such as metadata: where a guess leads nowhere, the next try halves
/// the remaining range.
struct QualitySearch {
    static let mostTries = 6
    /// A usual quality, which is tried first.
    private static let usual = 75
    /// Below the usual quality, the length of a file halves about every 25 steps.
    private static let halving = 25.0

    private let limit: Int
    private var tries = 0
    /// Number of tries in a row with the same outcome as the latest one.
    private var row = 0
    private var latestFits = false
    /// The highest quality that fits, and the lowest that is too long, each with the length of its file.
    private var fits: (quality: Int, length: Int)?
    private var tooLong: (quality: Int, length: Int)?
    private let most: Int

    init(most: Int, limit: Int) { (self.most, self.limit) = (most, limit) }

    /// The quality to try next; nil at the end.
    var next: Int? {
        let (low, high) = ((fits?.quality ?? 0) + 1, (tooLong?.quality ?? most + 1) - 1)
        guard low <= high, tries < Self.mostTries else { return nil }
        // The last try must fit if any quality fits.
        if fits == nil, tries == Self.mostTries - 1 { return low }
        return min(max(guess(between: low, and: high), low), high)
    }

    private func guess(between low: Int, and high: Int) -> Int {
        let middle = (low + high) / 2
        switch (fits, tooLong) {
        case (nil, nil): return Self.usual
        case (_, nil): return middle + 1
        case (nil, let tooLong?):
            let steps = (Self.halving * log2(Double(tooLong.length) / Double(limit))).rounded(.up)
            // Lengths at the lowest qualities say little about higher qualities.
            let guess = max(tooLong.quality - max(1, Int(steps)), tooLong.quality / 6)
            return row < 2 ? guess : min(guess, middle)
        case (let fits?, let tooLong?):
            // A last try that does not fit gains nothing, so leave a margin.
            if row >= 2, !latestFits, tries == Self.mostTries - 1 { return high - (high - low) / 6 }
            // Lengths that are far apart grow by factors, so interpolate their logarithms.
            let grows = tooLong.length / 3 > fits.length
            func place(_ length: Int) -> Double { grows ? log(Double(max(length, 1))) : Double(length) }
            var (below, above) = (place(limit) - place(fits.length), place(tooLong.length) - place(limit))
            // The end that has stayed gets half its weight, so that the next try lies nearer to it.
            if row >= 2 {
                if latestFits { above /= 2 } else { below /= 2 }
            }
            return fits.quality + Int(Double(tooLong.quality - fits.quality) * below / (below + above))
        }
    }

    /// Records the length of a file; returns whether it is the best file so far.
    mutating func tried(_ quality: Int, bytes: Int) -> Bool {
        row = tries > 0 && latestFits == (bytes <= limit) ? row + 1 : 1
        latestFits = bytes <= limit
        tries += 1
        if latestFits { fits = (quality, bytes) } else { tooLong = (quality, bytes) }
        return latestFits
    }
}
