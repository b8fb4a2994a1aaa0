import Glibc
import SystemCalls

/// The files and folders that a command writes. If the command fails, all of them are removed.
final class WrittenFiles {
    private(set) var files: [String] = []
    private var folders: [String] = []

    /// Makes a folder unless it exists.
    func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(Failure) {
        guard !FileSystem.isFolder(path) else { return }
        do {
            try FileSystem.makeFolders(path, mode: mode)
        } catch {
            throw Self.failure(error)
        }
        // Sets the mode again, because the umask may have made the folder unreadable for the daemon.
        _ = uninterrupted { chmod(path, mode) }
        folders.append(path)
    }

    /// Writes a new file, and makes `owner` its owner unless `owner` is nil.
    func write(_ text: String, to path: String, mode: UInt32 = 0o644, owner: UInt32? = nil) throws(Failure) {
        do throws(SystemError) {
            let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
            files.append(path)
            try file.write(Array(text.utf8), called: path)
            if let owner, owner != geteuid() {
                guard fchown(file.number, owner, UInt32.max) == 0 else { throw SystemError("chown", path) }
            }
            guard fchmod(file.number, mode) == 0 else { throw SystemError("chmod", path) }
            try file.sync(called: path)
            try FileSystem.sync(FileSystem.folder(of: path))
        } catch {
            throw Self.failure(error)
        }
    }

    /// Removes the written files, and the folders that were made for them.
    func takeBack() {
        for file in files { try? FileSystem.remove(file) }
        for folder in folders.reversed() { rmdir(folder) }
        (files, folders) = ([], [])
    }

    /// Runs `body`. If it throws, removes everything that it wrote.
    static func all<Result>(_ body: (WrittenFiles) throws -> Result) throws -> Result {
        let written = WrittenFiles()
        do { return try body(written) } catch {
            written.takeBack()
            throw error
        }
    }

    private static func failure(_ error: SystemError) -> Failure {
        if error.code == EEXIST { return Failure("Exists", "\(error)\nnothing was written", .failed) }
        let advice = error.code == EACCES || error.code == EPERM ? "; try it with sudo" : ""
        return Failure("NotWritten", "\(error)\nnothing was written\(advice)", .failed)
    }
}
