import Glibc

public enum InstalledProgram {
    public static var folder: String { FileSystem.folder(of: FileSystem.resolved("/proc/self/exe")) }

    /// Whether this program runs from a build, which has the workers' programs in the same folder. A package has them
    /// in `libexec`.
    public static var isBuild: Bool { FileSystem.mayExist("\(folder)/pipelined-render") }

    /// The path of a worker's program. A build has that program in the folder of this program, and a package has it in
    /// `libexec`. Nil if neither folder contains it.
    public static func worker(_ name: String) -> String? {
        ["\(folder)/\(name)", "\(folder)/../libexec/pipelined/\(name)"].first(where: FileSystem.mayExist)
    }

    /// Replaces this process by another program, which takes over the output, the exit code and Ctrl-C.
    public static func become(_ program: String, _ words: [String]) throws(SystemError) -> Never {
        var arguments = ([program] + words).map { strdup($0) } + [nil]
        fflush(nil)
        execv(program, &arguments)
        throw SystemError("start", program)
    }
}
