import Foundation

/// strace around the daemon: it records calls, and changes the kernel's answers. It traces workers as well, but selects
/// calls by their paths, of which a worker has none.
enum Strace {
    /// The calls of claiming, publishing, disposal and the ledger.
    static let calls = [
        "mkdir", "mkdirat", "openat", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat",
        "fsync",
        "fdatasync", "pwrite64", "ftruncate",
    ]

    /// The command to put in front of the daemon's. The daemon stays our child, and the tracer ends with it.
    private static let command = ["/usr/bin/strace", "-D", "-f", "-qq"]

    /// Writes every call to `file`.
    static func recording(to file: String, injecting: [String] = []) -> [String] {
        command + ["--seccomp-bpf", "-y", "-s", "5000", "-o", file, "-e", "trace=" + calls.joined(separator: ",")]
            + injecting.flatMap { ["-e", "inject=\($0)"] }
    }

    // Together with paths, strace 6.1 lets --seccomp-bpf pass everything by.
    /// Changes calls on these paths, and those alone: `fsync:error=EIO`, `renameat2:signal=SIGKILL:when=1`. Without paths, on any.
    static func injecting(_ what: [String], into paths: [String]) -> [String] {
        command + ["-o", "/dev/null", "-e", "trace=" + calls.joined(separator: ",")]
            + what.flatMap { ["-e", "inject=\($0)"] } + paths.flatMap { ["-P", $0] }
    }
}

/// A call that strace has seen, with its paths, and the numbers of the lines where it began and returned.
struct TracedCall {
    var name: String
    var thread: String
    var paths: [String]
    var text: String
    var began: Int
    var returned: Int

    /// The calls of a recording that concern files below `root`, in the order in which they began. Paths are relative to it.
    static func read(_ file: String, below root: String) throws -> [TracedCall] {
        var calls: [TracedCall] = []
        var unfinished: [String: Int] = [:]
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        for (number, line) in lines.enumerated() {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2 else { continue }
            let thread = String(parts[0])
            let text = parts[1].drop { $0 == " " }
            if text.hasPrefix("<... ") {
                if let index = unfinished.removeValue(forKey: thread) { calls[index].returned = number }
                continue
            }
            guard let end = text.firstIndex(of: "("), text.contains(root) else { continue }
            if text.hasSuffix("<unfinished ...>") { unfinished[thread] = calls.count }
            calls.append(
                TracedCall(
                    name: String(text[..<end]), thread: thread, paths: paths(in: text, below: root), text: String(text),
                    began: number, returned: number))
        }
        return calls
    }

    /// The texts in quotes, or in angle brackets behind a descriptor. For a name within an open folder the folder
    /// counts, by which strace knows the call again.
    private static func paths(in text: Substring, below root: String) -> [String] {
        let isByDescriptor = ["fsync", "fdatasync", "pwrite64", "ftruncate"].contains { text.hasPrefix($0 + "(") }
        var paths: [String] = []
        var folder = ""
        var rest = text
        while let start = rest.firstIndex(where: { $0 == "<" || $0 == "\"" }) {
            let after = rest[rest.index(after: start)...]
            guard let end = after.firstIndex(of: rest[start] == "<" ? ">" : "\"") else { break }
            let words = String(after[..<end])
            let isFolder = rest[start] == "<" && !isByDescriptor
            if isFolder { folder = words }
            let path = words.hasPrefix("/") || isByDescriptor ? words : folder
            if !isFolder, path.hasPrefix(root + "/") { paths.append(String(path.dropFirst(root.count + 1))) }
            // The written bytes are no path.
            if isByDescriptor { break }
            rest = after[after.index(after: end)...]
        }
        return paths
    }
}
