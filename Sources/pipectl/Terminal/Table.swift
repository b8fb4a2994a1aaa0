/// Aligned columns. On a terminal the elastic ones give way until every row fits.
struct Table {
    struct Column {
        var title: String
        var right = false
        var elastic = false
    }

    private static let gap = "  "
    private static let leastElastic = 8

    var columns: [Column]
    private var rows: [[Text]] = []

    init(_ columns: [Column]) {
        self.columns = columns
    }

    mutating func add(_ cells: Text...) {
        rows.append(cells)
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The table's lines, its head first; without titles it has none.
    func lines(width limit: Int?) -> [Text] {
        var all = rows
        if columns.contains(where: { !$0.title.isEmpty }) {
            all.insert(columns.map { Text($0.title, .faint) }, at: 0)
        }
        let widths = widths(of: all, limit: limit)
        return all.map { row in
            var line = Text()
            for (index, cell) in row.enumerated() {
                let cell = limit == nil ? cell : cell.shortened(to: widths[index])
                let space = Text(String(repeating: " ", count: max(0, widths[index] - cell.columns)))
                // Nothing is left of the last cell of a row, spaces neither.
                let isLast = row[(index + 1)...].allSatisfy(\.isEmpty)
                line = line + (columns[index].right ? space + cell : isLast ? cell : cell + space)
                if isLast { break }
                line = line + Text(Self.gap)
            }
            return line
        }
    }

    private func widths(of rows: [[Text]], limit: Int?) -> [Int] {
        var widths = columns.indices.map { index in rows.map { $0[index].columns }.max() ?? 0 }
        guard let limit else { return widths }
        let room = limit - Self.gap.count * (columns.count - 1)
        let elastic = columns.indices.filter { columns[$0].elastic }
        while widths.reduce(0, +) > room {
            guard let widest = elastic.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.leastElastic
            else { break }
            widths[widest] -= 1
        }
        return widths
    }
}
