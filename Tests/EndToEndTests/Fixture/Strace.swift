import Foundation

/// strace around the daemon: what it asks of the kernel, and the kernel's answers changed. Its workers are traced as well, but what is
/// changed is told by its path, and a worker has none.
enum Strace {
    /// The calls that claiming, publishing, disposal and the ledger are made of.
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

/// A call that strace has seen: what, on which paths, and when it began and returned, as the numbers of lines.
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

    /// What stands in quotes, or in angle brackets behind a descriptor. Of a name within an open folder it is the folder that counts: by
    /// that strace knows the call again.
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
            // What a call writes is no path.
            if isByDescriptor { break }
            rest = after[after.index(after: end)...]
        }
        return paths
    }
}
