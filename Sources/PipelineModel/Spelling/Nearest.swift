/// The candidate that the writer of `word` probably meant, or nil if no candidate is similar.
public func nearest(_ word: String, among candidates: some Sequence<String>) -> String? {
    let written = Array(word.lowercased())
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
        let wanted = Array(candidate.lowercased())
        let bound = max(1, min(3, max(written.count, wanted.count) / 2))
        var distance = Int.max
        if abs(written.count - wanted.count) <= bound { distance = editDistance(written, wanted) }
        // A word that is the beginning of the candidate counts as one mistake, however long the candidate is.
        if written.count > 1, wanted.starts(with: written) { distance = min(distance, 1) }
        if distance <= bound, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.candidate
}

/// "; did you mean 'status'?", or nothing.
public func didYouMean(_ word: String, among known: some Sequence<String>) -> String {
    nearest(word, among: known).map { "; did you mean '\($0)'?" } ?? ""
}

/// The number of insertions, deletions, replacements and transpositions that turn one word into the other.
private func editDistance(_ from: [Character], _ to: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...to.count)
    for (row, character) in from.enumerated() {
        var current = [row + 1]
        for (column, wanted) in to.enumerated() {
            var distance = min(last[column + 1] + 1, current[column] + 1, last[column] + (character == wanted ? 0 : 1))
            if row > 0, column > 0, character == to[column - 1], from[row - 1] == wanted {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforeLast, last) = (last, current)
    }
    return last[to.count]
}

/// Names from other programs, with the corresponding stage of this program.
private let synonyms = [
    "gray": "mono", "grey": "mono", "grayscale": "mono", "greyscale": "mono", "monochrome": "mono",
    "bw": "mono", "scale": "resize", "thumbnail": "resize", "exposure": "tone", "brightness": "tone",
    "levels": "autolevels", "horizon": "straighten", "deskew": "straighten",
]

/// Names of file formats. If `save` does not know such a name, suggesting a format with a similar name would mislead.
private let formats: Set<String> = ["bmp", "gif", "heic", "heif", "j2k", "jp2", "jxl"]

/// Advice for an unknown word: the most similar known word, or else a list of all known words.
func suggestion(for word: String, among known: [String]) -> String {
    if let synonym = synonyms[word.lowercased()], known.contains(synonym) { return "did you mean '\(synonym)'?" }
    if !formats.contains(word.lowercased()), let candidate = nearest(word, among: known) {
        return "did you mean '\(candidate)'?"
    }
    return "it may be \(known.joined(separator: ", "))"
}
