/// Rows of text, for a terminal and for a page.
struct Table {
    var header: [String]
    var rows: [[String]]

    var text: String {
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        return ([header] + rows).map { row in
            let cells = row.indices.map { index in
                let space = String(repeating: " ", count: widths[index] - row[index].count)
                return index == 0 ? row[index] + space : space + row[index]
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    var markdown: String {
        let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
        return ([header, rule] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }
}
