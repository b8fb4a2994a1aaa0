import Foundation
import Glibc
import PipelineControl

/// Lines for people, on standard error: time, what, which file, and what to do when it is a failure. A file's name and a client's
/// words may hold anything: a line stays a line, and commands nobody's terminal.
enum Log {
    static func notice(_ line: String) { write(line.printable) }

    /// Something went wrong. On a terminal it stands out.
    static func failure(_ line: String, advice: String? = nil) {
        let whole = line + (advice.map { "; \($0)" } ?? "")
        write(isTerminal ? "\u{1b}[31m\(whole.printable)\u{1b}[m" : whole.printable)
    }

    private static let isTerminal =
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    private static func write(_ line: String) {
        let text = "\(Timestamp.clock(Timestamp.now())) \(line)\n"
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
