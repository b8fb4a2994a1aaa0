public enum InstalledProgram {
    public static var folder: String { FileSystem.folder(of: FileSystem.resolved("/proc/self/exe")) }

    /// The path of a worker: beside this program, as a build has it, or where a package puts it.
    public static func worker(_ name: String) -> String? {
        ["\(folder)/\(name)", "\(folder)/../libexec/pipelined/\(name)"].first(where: FileSystem.mayExist)
    }
}
