/// Updates the tables of fields in a Markdown page. The heading above a table names its type. The rest of the page
/// stays unchanged.
func renewingFieldTables(in page: String, of interfaces: [VarlinkText]) -> String {
    let types = interfaces.flatMap(\.members).filter { $0.kind == "type" }
    var lines: [Substring] = []
    var heading = ""
    var isInTable = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.hasPrefix("#") { heading = String(line.drop { $0 == "#" || $0 == " " }) }
        if isInTable, line.hasPrefix("|") { continue }
        isInTable = false
        if line.hasPrefix("| field |"), let type = types.first(where: { $0.name == heading }) {
            isInTable = true
            lines += type.fieldTable.map { $0[...] }
        } else {
            lines.append(line)
        }
    }
    return lines.joined(separator: "\n")
}

extension VarlinkText.Member {
    fileprivate var fieldTable: [String] {
        ["| field | type | is |", "|---|---|---|"]
            + fields.map { "| `\($0.name)` | \($0.words) | \($0.comment.joined(separator: " ")) |" }
    }
}

extension VarlinkText.Field {
    /// The type in words. Varlink has no type for a time; the comment of a time field begins with "when".
    fileprivate var words: String {
        let isTime = comment.first?.hasPrefix("when ") == true
        return Self.words(type).replacing("string", with: isTime ? "time" : "string")
    }

    private static func words(_ type: Substring) -> String {
        if type.hasPrefix("?") { return words(type.dropFirst()) + " or null" }
        if type.hasPrefix("[]") { return "list of " + words(type.dropFirst(2)) }
        if type.hasPrefix("[string]") { return "object of " + words(type.dropFirst("[string]".count)) }
        if type == "float" { return "number" }
        return type.first?.isUppercase == true ? "[\(type)](#\(type.lowercased()))" : String(type)
    }
}
