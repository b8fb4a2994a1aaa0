import Glibc
import SystemCalls

/// Lines for people, on standard error: time, what, which file, and what to do when it is a failure.
enum Log {
    static func notice(_ line: String) { write("", line) }

    /// Something went wrong, and what to do about it.
    static func failure(_ line: String, advice: String? = nil) {
        write("", line + (advice.map { "; \($0)" } ?? ""))
    }

    private static func write(_ mark: String, _ line: String) {
        // A file's name may hold anything; a line stays a line.
        let safe = line.unicodeScalars.map {
            $0.value < 32 || $0.value == 127 ? "\\u{\(String($0.value, radix: 16))}" : String($0)
        }
        let text = "\(Timestamp.clock(Timestamp.now())) \(mark)\(safe.joined())\n"
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
