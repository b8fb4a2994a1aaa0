import CLinux
import Glibc

public enum ChildProgram {
    /// Starts `words[0]` with `streams` as its descriptors 0, 1, … and no other, default signals, and a process group of its own.
    public static func start(
        _ words: [String], environment: [String], streams: [Int32]
    ) throws(SystemError) -> Int32 {
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var process: pid_t = 0
        guard clinux_spawn(&process, &arguments, &variables, streams, Int32(streams.count)) == 0 else {
            throw SystemError("start", words[0])
        }
        return process
    }
}
