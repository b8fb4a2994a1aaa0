import SystemCalls

extension String {
    /// The number of columns that the text occupies on a terminal.
    var columns: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return unicodeScalars.reduce(0) { $0 + $1.columns }
    }

    /// Shortens the text to at most `limit` columns. An absolute path loses its first folders. Any other name loses its
    /// middle, because its beginning is the most informative part, and its end distinguishes it from similar names.
    func shortened(to limit: Int) -> String {
        guard columns > limit else { return self }
        guard limit > 1 else { return limit == 1 ? "…" : "" }
        if first == "/", let name = split(separator: "/").last, name.count < count - 1 {
            let ends = indices.dropFirst().lazy.filter { self[$0] == "/" }.map { self[$0...] }
            let fitting = ends.first { String($0).columns < limit }
            return fitting.map { "…\($0)" } ?? String(name).shortened(to: limit)
        }
        let tail = max((limit - 1) / 2, limit - (limit < 30 ? 7 : 11))
        let end = String(reversed().prefix(fitting: tail).reversed())
        return prefix(fitting: limit - 1 - end.columns) + "…" + end
    }

    func padded(to width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - columns))
        return right ? space + self : self + space
    }
}

extension Sequence<Character> {
    /// The longest prefix that fits into `limit` columns.
    fileprivate func prefix(fitting limit: Int) -> String {
        var taken = ""
        var width = 0
        for character in self {
            width += String(character).columns
            if width > limit { break }
            taken.append(character)
        }
        return taken
    }
}

extension Unicode.Scalar {
    fileprivate var columns: Int { Terminal.columns(of: self) ?? 0 }
}
