import Foundation
import Glibc

/// The progress: a bar on a terminal, elsewhere a line for each job.
final class Progress {
    private let total: Int
    private var done = 0
    private static let isShown = isatty(STDERR_FILENO) == 1

    init(total: Int) { self.total = total }

    static func begin(_ title: String) {
        write(isShown ? "\r\u{1B}[K\(title)" : "measuring: \(title)\n")
    }

    func show(_ text: String) {
        guard Self.isShown else { return }
        let full = 24 * min(done, total) / max(1, total)
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: 24 - full)
        Self.write("\r\u{1B}[K[\(bar)] \(100 * min(done, total) / max(1, total)) %  \(text.prefix(80))")
    }

    func step() { done += 1 }

    /// Removes the bar.
    static func end() {
        if isShown { write("\r\u{1B}[K") }
    }

    private static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
