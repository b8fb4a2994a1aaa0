import Foundation
import Glibc
import SystemCalls

/// Writes log lines for people: the event, the file, and the remedy for a failure. Under systemd, lines go to the
/// journal with searchable fields, otherwise to standard error. File names and text from clients may contain control
/// characters, so each line is made printable: it can neither break in two nor control a terminal.
package enum Log {
    package static func notice(_ line: String, of subject: LogSubject = LogSubject()) {
        write(line.printable, .notice, of: subject)
    }

    /// Logs a failure, and advice on how to fix it. On a terminal the line is red, unless `NO_COLOR` is set.
    package static func failure(_ line: String, advice: String? = nil, of subject: LogSubject = LogSubject()) {
        write((line + (advice.map { "; \($0)" } ?? "")).printable, .failure, of: subject)
    }

    /// Logs why a program does not start, such as a mistake in its command line or configuration.
    package static func refusal(_ line: String, by program: String = "pipelined") {
        switch LogTarget.current {
        case .plain: put("\(program): \(line)\n")
        case .prefixed, .journal: failure(line)
        }
    }

    private static let isColoured =
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil

    private static func write(_ line: String, _ priority: LogPriority, of subject: LogSubject) {
        switch LogTarget.current {
        case .journal:
            Journal.write(line, priority, of: subject)
        case .prefixed:
            put("<\(priority.rawValue)>\(line)\n")
        case .plain:
            let stands = priority == .failure && isColoured
            put("\(Timestamp.dated(Timestamp.now())) \(stands ? "\u{1b}[31m\(line)\u{1b}[m" : line)\n")
        }
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
