import Foundation
import Glibc
import SystemCalls

/// Lines for people: the event, the file, and for a failure the remedy. They go to the journal under systemd, with
/// searchable fields, and to standard error otherwise. File names and clients' words may hold anything, so lines are
/// made printable: none breaks in two, or controls a terminal.
package enum Log {
    package static func notice(_ line: String, of subject: LogSubject = LogSubject()) {
        write(line.printable, .notice, of: subject)
    }

    /// Logs that something went wrong. On a terminal it stands out.
    package static func failure(_ line: String, advice: String? = nil, of subject: LogSubject = LogSubject()) {
        write((line + (advice.map { "; \($0)" } ?? "")).printable, .failure, of: subject)
    }

    /// Logs why a program does not start: a mistake in the command line, or in the configuration.
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
