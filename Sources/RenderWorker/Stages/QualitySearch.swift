import Foundation

/// Searches for the highest quality whose file has at most `limit` bytes. In at most six tries, finds that quality, or
/// a quality near it. Between a quality that fits and a quality that doesn't, the search interpolates from the lengths
/// of their files. The estimates can be misleading, because a part of the file, such as metadata, may not depend on the
/// quality. So if two tries in a row have the same outcome, the search adjusts its next estimate.
struct QualitySearch {
    static let mostTries = 6
    /// A usual quality, which is tried first.
    private static let usual = 75
    /// Below the usual quality, the length of a file halves about every 25 steps.
    private static let halving = 25.0

    private let limit: Int
    private var tries = 0
    /// Number of consecutive tries, up to the latest try, with the same outcome.
    private var row = 0
    private var latestFits = false
    /// The highest quality whose file is known to fit, and the lowest quality whose file is known to be too long, each
    /// with the file's length.
    private var fits: (quality: Int, length: Int)?
    private var tooLong: (quality: Int, length: Int)?
    private let most: Int

    init(most: Int, limit: Int) { (self.most, self.limit) = (most, limit) }

    /// The quality to try next; nil when the search is over.
    var next: Int? {
        let (low, high) = ((fits?.quality ?? 0) + 1, (tooLong?.quality ?? most + 1) - 1)
        guard low <= high, tries < Self.mostTries else { return nil }
        // Use the last try for the lowest quality. If even that file is too long, no quality fits.
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
            // Lengths at very low qualities say little about lengths at higher qualities, so don't guess below a sixth
            // of the latest quality.
            let guess = max(tooLong.quality - max(1, Int(steps)), tooLong.quality / 6)
            return row < 2 ? guess : min(guess, middle)
        case (let fits?, let tooLong?):
            // The last try is wasted if its file is too long, so choose a quality a little below the highest candidate.
            if row >= 2, !latestFits, tries == Self.mostTries - 1 { return high - (high - low) / 6 }
            // If the lengths are far apart, the length grows exponentially with the quality, so interpolate its
            // logarithm.
            let grows = tooLong.length / 3 > fits.length
            func place(_ length: Int) -> Double { grows ? log(Double(max(length, 1))) : Double(length) }
            var (below, above) = (place(limit) - place(fits.length), place(tooLong.length) - place(limit))
            // If two tries in a row have left the same bound unchanged, halve the weight of this bound, so that the
            // next try is nearer to the bound (Illinois method).
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
