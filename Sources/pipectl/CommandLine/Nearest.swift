/// Returns the known word that is most similar to a misspelt word; nil if no known word is similar.
func nearest(to word: String, among known: [String]) -> String? {
    let word = word.lowercased()
    let near = known.map { (word: $0, distance: distance(word, $0.lowercased())) }
        .filter { $0.distance <= max(1, word.count / 3) }
        .min { $0.distance < $1.distance }
    return near?.word ?? (word.count > 1 ? known.first { $0.lowercased().hasPrefix(word) } : nil)
}

/// "; did you mean 'status'?", or nothing.
func didYouMean(_ word: String, among known: [String]) -> String {
    nearest(to: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
}

/// Edit distance in which swapping two neighbouring letters counts as one edit.
private func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    var before: [Int] = []
    var last = Array(0...other.count)
    for i in one.indices {
        var row = [i + 1]
        for j in other.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (one[i] == other[j] ? 0 : 1))
            if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { best = min(best, before[j - 1] + 1) }
            row.append(best)
        }
        (before, last) = (last, row)
    }
    return last[other.count]
}
