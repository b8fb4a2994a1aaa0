import Foundation
import Glibc

/// Lines for people, on standard error: time, what, which file, and what to do when it is a failure.
enum Log {
    static func notice(_ line: String) { write(line) }

    /// Something went wrong. On a terminal it stands out.
    static func failure(_ line: String, advice: String? = nil) {
        let whole = line + (advice.map { "; \($0)" } ?? "")
        write(isTerminal ? "\u{1b}[31m\(whole.onOneLine)\u{1b}[m" : whole, escaping: !isTerminal)
    }

    private static let isTerminal =
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    private static func write(_ line: String, escaping: Bool = true) {
        let text = "\(Timestamp.clock(Timestamp.now())) \(escaping ? line.onOneLine : line)\n"
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension String {
    /// A file's name may hold anything; a line stays a line, and commands nobody's terminal.
    var onOneLine: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
        guard utf8.contains(where: { $0 < 32 || $0 >= 127 }) else { return self }
        return unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}
