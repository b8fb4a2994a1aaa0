/// A table with aligned columns. To fit a narrow terminal, it drops the least important columns, shortens names in
/// the middle, and wraps words.
struct Table {
    struct Column {
        enum Fit {
            case whole
            /// Cells are shortened in the middle.
            case name
            /// Cells wrap between words.
            case words
        }

        var title: String
        var right = false
        var fit = Fit.whole
        /// On a narrow terminal, the columns with the highest number are dropped first; columns with 0 stay.
        var spare = 0

        /// The table drops spare columns before it makes this column narrower than `comfortable`. It never makes the
        /// column narrower than `least`, which has room for the longest word unless that word is very long.
        fileprivate func widths(of natural: Int, longestPart: Int) -> (comfortable: Int, least: Int) {
            switch fit {
            case .whole: (natural, natural)
            case .name: (min(natural, 16), min(natural, 8))
            case .words: (min(natural, 28), min(natural, max(12, min(longestPart, 24))))
            }
        }
    }

    private enum Row {
        case cells([Text])
        /// A text below a row, across all columns.
        case note(Text)
    }

    private static let gap = "  "
    private static let noteIndent = "       "

    let columns: [Column]
    /// Maximum number of lines in a cell whose text wraps.
    private let mostLines: Int
    private var rows: [Row] = []

    init(_ columns: [Column], mostLines: Int = .max) {
        (self.columns, self.mostLines) = (columns, mostLines)
    }

    mutating func add(_ cells: Text...) { add(cells) }

    mutating func add(_ cells: [Text]) {
        rows.append(.cells(cells))
    }

    mutating func note(_ text: Text) {
        rows.append(.note(text))
    }

    var isEmpty: Bool { rows.isEmpty }

    /// The table's lines, with a head if any column has a title.
    func lines(width limit: Int?) -> [Text] {
        var all = rows
        if columns.contains(where: { !$0.title.isEmpty }) {
            all.insert(.cells(columns.map { Text($0.title, .faint) }), at: 0)
        }
        let widths = widths(of: all, limit: limit)
        return all.flatMap { row in
            switch row {
            case .cells(let cells): lines(of: cells, widths, limit: limit)
            case .note(let text):
                (limit.map { text.folded(to: $0 - Self.noteIndent.count) } ?? [text]).map { Text(Self.noteIndent) + $0 }
            }
        }
    }

    /// The lines of a row. A cell may need several lines.
    private func lines(of row: [Text], _ widths: [Int?], limit: Int?) -> [Text] {
        let cells = row.indices.compactMap { index in
            widths[index].map { (width: $0, right: columns[index].right, lines: fitted(row[index], index, $0, limit)) }
        }
        return (0..<(cells.map(\.lines.count).max() ?? 0)).map { number in
            var line = Text()
            for (index, cell) in cells.enumerated() {
                let text = number < cell.lines.count ? cell.lines[number] : Text()
                let space = Text(String(repeating: " ", count: max(0, cell.width - text.columns)))
                // No spaces follow the last cell of a line.
                let isLast = cells[(index + 1)...].allSatisfy { number >= $0.lines.count || $0.lines[number].isEmpty }
                line = line + (cell.right ? space + text : isLast ? text : text + space)
                if isLast { break }
                line = line + Text(Self.gap)
            }
            return line
        }
    }

    private func fitted(_ cell: Text, _ column: Int, _ width: Int, _ limit: Int?) -> [Text] {
        guard limit != nil, cell.columns > width else { return [cell] }
        guard columns[column].fit == .words, !cell.isName else { return [cell.shortened(to: width)] }
        return cell.folded(to: width, most: mostLines)
    }

    /// The width of each column; nil for a dropped column.
    private func widths(of rows: [Row], limit: Int?) -> [Int?] {
        var widths: [Int?] = columns.indices.map { index in
            rows.map { if case .cells(let cells) = $0 { cells[index].columns } else { 0 } }.max() ?? 0
        }
        guard let limit, excess(widths, limit) > 0 else { return widths }
        let longest = columns.indices.map { longestPart(in: $0, of: rows) }
        func bounds(_ index: Int, _ width: Int) -> (comfortable: Int, least: Int) {
            columns[index].widths(of: width, longestPart: longest[index])
        }
        func comfortable() -> [Int?] {
            widths.indices.map { index in widths[index].map { bounds(index, $0).comfortable } }
        }
        while excess(comfortable(), limit) > 0,
            let spare = columns.indices.filter({ widths[$0] != nil && columns[$0].spare > 0 })
                .max(by: { columns[$0].spare < columns[$1].spare })
        {
            widths[spare] = nil
        }
        let natural = widths
        for isComfortable in [true, false] {
            while excess(widths, limit) > 0 {
                let elastic = columns.indices.filter { index in
                    guard let width = widths[index], let full = natural[index] else { return false }
                    let (comfortable, least) = bounds(index, full)
                    return width > (isComfortable ? comfortable : least)
                }
                guard let widest = elastic.max(by: { (widths[$0] ?? 0) < (widths[$1] ?? 0) }) else { break }
                widths[widest]? -= 1
            }
        }
        return widths
    }

    /// The number of columns by which a line is wider than `limit`.
    private func excess(_ widths: [Int?], _ limit: Int) -> Int {
        let shown = widths.compactMap(\.self)
        return shown.reduce(0, +) + Self.gap.count * (shown.count - 1) - limit
    }

    private func longestPart(in column: Int, of rows: [Row]) -> Int {
        guard columns[column].fit == .words else { return 0 }
        return rows.map { row in
            guard case .cells(let cells) = row, !cells[column].isName else { return 0 }
            return cells[column].longestPart
        }.max() ?? 0
    }
}
