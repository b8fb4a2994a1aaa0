import Glibc
import SystemCalls

/// Buffers standard output, to write many lines at a time.
final class Output {
    let isTerminal = Terminal.isTerminal(STDOUT_FILENO)
    let color: Bool
    private var pending: [UInt8] = []

    init(color choice: ColorChoice) {
        switch choice {
        case .always: color = true
        case .never: color = false
        case .auto:
            // By the convention of no-color.org, an empty NO_COLOR counts as unset.
            let refused = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
            let dumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? false
            color = isTerminal && !refused && !dumb
        }
    }

    /// The terminal's width, to which tables are fitted; nil if the output is not a terminal.
    var columns: Int? { isTerminal ? Terminal.columns(STDOUT_FILENO) ?? 80 : nil }

    var rows: Int { Terminal.rows(STDOUT_FILENO) ?? 24 }

    /// Prints a line. If it is wider than the terminal, it continues on the next line, between words.
    func line(_ text: Text = "") throws {
        for part in columns.map(text.wrapped) ?? [text] { try raw(part.rendered(color: color) + "\n") }
    }

    func lines(_ texts: [Text]) throws {
        for text in texts { try line(text) }
    }

    /// Prints a JSON document, indented for reading.
    func document(_ value: some Encodable) throws {
        try raw(JSONText.document(value) + "\n")
    }

    /// Prints a JSON document on a single line.
    func object(_ value: some Encodable) throws {
        try raw(JSONText.line(value) + "\n")
    }

    func raw(_ text: String) throws {
        pending += text.utf8
        if pending.count >= 64 * 1024 { try flush() }
    }

    func flush() throws {
        var rest = pending[...]
        pending.removeAll(keepingCapacity: true)
        while !rest.isEmpty {
            let wrote = uninterrupted { rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) } }
            guard wrote >= 0 else { throw SystemError("write", "standard output") }
            rest = rest.dropFirst(wrote)
        }
    }
}
