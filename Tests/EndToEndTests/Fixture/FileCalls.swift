import Foundation
import Glibc
import TestTools

/// Interposes on the daemon's file calls, including SQLite's. `file_calls.c` records the calls and changes their
/// results. The daemon can't notice this, and workers are not affected.
enum FileCalls {
    private static let library = Result { try CSource.built("file_calls.c", "-shared -fPIC") }

    /// Returns the command under which the daemon is started. Every call is recorded in `file`.
    static func wrapper(_ changes: [Change] = [], recordedIn file: String? = nil) throws -> [String] {
        let rules = changes.flatMap(\.rules).joined(separator: "\n")
        return ["/usr/bin/env", "LD_PRELOAD=\(try library.get())", "FILE_CALLS_RULES=\(rules)"]
            + (file.map { ["FILE_CALLS_RECORD=\($0)"] } ?? [])
    }

    /// Returns a command to put before another wrapper. It makes strace write these calls to `file`, as the kernel sees
    /// them. The calls of workers are included.
    static func strace(_ calls: [String], to file: String) -> [String] {
        [
            "/usr/bin/strace", "-D", "-f", "-qq", "--seccomp-bpf", "-y", "-o", file,
            "-e", "trace=" + calls.joined(separator: ","),
        ]
    }

    /// Changes the results of some calls.
    struct Change: Sendable {
        fileprivate let rules: [String]

        /// `calls` are comma-separated names. Each path has its own counter of calls; if `paths` is empty, one counter
        /// counts the calls on all files. Changes call number `first`, counted from 1, and every `step`th call after it
        /// unless `step` is 0.
        private init(_ calls: String, _ action: String, _ paths: [String], first: Int = 1, step: Int) {
            rules = (paths.isEmpty ? [""] : paths).map { "\(calls)\t\(action)\t\(first)\t\(step)\t\($0)" }
        }

        /// Kills the daemon before call number `count` of this kind.
        static func kill(_ calls: String, _ count: Int, on path: String? = nil) -> Change {
            Change(calls, "kill", path.map { [$0] } ?? [], first: count, step: 0)
        }

        static func fail(
            _ calls: String, _ error: Int32, on paths: [String] = [], first: Int = 1, step: Int = 1
        ) -> Change {
            Change(calls, "\(error)", paths, first: first, step: step)
        }

        /// Keeps the call from returning until the named pipe is opened for writing.
        static func hang(_ call: String, on path: String, until pipe: String) -> Change {
            Change(call, "hang \(pipe)", [path], step: 0)
        }
    }
}

/// A recorded call. `began` and `returned` are the numbers of the record's lines for its begin and its return.
struct FileCall {
    var name: String
    /// Paths relative to the daemon's root.
    var paths: [String]
    /// The bytes that the call wrote.
    var text: String
    var began: Int
    var returned: Int
    var error: Int32 = 0

    var isSync: Bool { name == "fsync" || name == "fdatasync" }

    /// Returns the recorded calls on files below `root`, in the order in which they began.
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
