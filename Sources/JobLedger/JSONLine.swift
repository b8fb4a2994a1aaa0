/// A value that writes its own JSON: the same text as from `JSONEncoder`, but faster. Used for columns that the ledger
/// writes several times for each job.
protocol JSONWritten {
    func write(to line: inout JSONLine)
}

struct JSONLine {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    /// Writes an object. `members` must add the members in alphabetical order.
    mutating func object(_ members: (inout JSONLine) -> Void) {
        enclose("{", "}", members)
    }

    mutating func list(_ elements: [some JSONWritten]) {
        enclose("[", "]") { line in
            for element in elements {
                line.separate()
                element.write(to: &line)
            }
        }
    }

    mutating func member(_ name: StaticString, _ value: (some JSONWritten)?) {
        guard let value else { return }
        separate()
        string(name.description)
        bytes.append(UInt8(ascii: ":"))
        value.write(to: &self)
    }

    private mutating func enclose(_ begin: StaticString, _ end: StaticString, _ body: (inout JSONLine) -> Void) {
        bytes.append(begin.utf8Start.pointee)
        isFirst = true
        body(&self)
        isFirst = false
        bytes.append(end.utf8Start.pointee)
    }

    private mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    fileprivate mutating func text(_ text: String) { bytes.append(contentsOf: text.utf8) }

    fileprivate mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += ((byte < 16 ? "\\u000" : "\\u00") + String(byte, radix: 16)).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension Int: JSONWritten {
    func write(to line: inout JSONLine) { line.text(description) }
}

extension Double: JSONWritten {
    func write(to line: inout JSONLine) { line.text(description) }
}

extension String: JSONWritten {
    func write(to line: inout JSONLine) { line.string(self) }
}

extension Array: JSONWritten where Element: JSONWritten {
    func write(to line: inout JSONLine) { line.list(self) }
}
