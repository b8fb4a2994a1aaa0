import Foundation
import Glibc
import TestTools

/// Stands between the daemon and the C library: it records the daemon's calls on files, and changes their answers.
/// `file_calls.c` does that, without the daemon's knowledge, for SQLite's calls too. Workers are left alone.
enum FileCalls {
    private static let library = Result { try CSource.built("file_calls.c", "-shared -fPIC") }

    /// The command to put in front of the daemon's. Every call is written to `file`.
    static func wrapper(_ changes: [Change] = [], recordedIn file: String? = nil) throws -> [String] {
        let rules = changes.flatMap(\.rules).joined(separator: "\n")
        return ["/usr/bin/env", "LD_PRELOAD=\(try library.get())", "FILE_CALLS_RULES=\(rules)"]
            + (file.map { ["FILE_CALLS_RECORD=\($0)"] } ?? [])
    }

    /// The command to put before another wrapper. strace writes what the kernel sees of these calls, the workers' too, to `file`.
    static func strace(_ calls: [String], to file: String) -> [String] {
        [
            "/usr/bin/strace", "-D", "-f", "-qq", "--seccomp-bpf", "-y", "-o", file,
            "-e", "trace=" + calls.joined(separator: ","),
        ]
    }

    /// Another answer to some calls than the kernel's.
    struct Change: Sendable {
        fileprivate let rules: [String]

        /// `calls` are names with commas between them. Without paths it is about calls on any path. Each path has its own count,
        /// from 1. Of the calls from the `first` on each `step`th is changed, or no other if that is 0.
        private init(_ calls: String, _ action: String, _ paths: [String], first: Int = 1, step: Int) {
            rules = (paths.isEmpty ? [""] : paths).map { "\(calls)\t\(action)\t\(first)\t\(step)\t\($0)" }
        }

        /// The daemon is killed before one of these calls.
        static func kill(_ calls: String, _ count: Int, on path: String? = nil) -> Change {
            Change(calls, "kill", path.map { [$0] } ?? [], first: count, step: 0)
        }

        static func fail(
            _ calls: String, _ error: Int32, on paths: [String] = [], first: Int = 1, step: Int = 1
        ) -> Change {
            Change(calls, "\(error)", paths, first: first, step: step)
        }

        /// The call doesn't return before somebody opens the named pipe to write.
        static func hang(_ call: String, on path: String, until pipe: String) -> Change {
            Change(call, "hang \(pipe)", [path], step: 0)
        }
    }
}

/// A recorded call, with its paths, and the numbers of the lines where it began and returned.
struct FileCall {
    var name: String
    /// Relative to the root.
    var paths: [String]
    /// The bytes that were written.
    var text: String
    var began: Int
    var returned: Int
    var error: Int32 = 0

    var isSync: Bool { name == "fsync" || name == "fdatasync" }

    /// The calls of a recording on files below `root`, in the order in which they began.
    static func read(_ file: String, below root: String) throws -> [FileCall] {
        var calls: [FileCall] = []
        var unfinished: [Substring: Int] = [:]
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        for (number, line) in lines.enumerated() {
            let words = line.split(separator: "\t", omittingEmptySubsequences: false)
            if words[1] == "end" {
                guard let index = unfinished.removeValue(forKey: words[0]) else { continue }
                (calls[index].returned, calls[index].error) = (number, Int32(words[3]) ?? 0)
                continue
            }
            let paths = words[3...4].filter { $0.hasPrefix(root + "/") }.map { String($0.dropFirst(root.count + 1)) }
            guard !paths.isEmpty else { continue }
            unfinished[words[0]] = calls.count
            calls.append(
                FileCall(
                    name: String(words[2]), paths: paths, text: words[5...].joined(), began: number, returned: number))
        }
        return calls
    }
}
