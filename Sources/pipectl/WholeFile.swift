import Glibc
import SystemCalls

/// Writes what the daemon has handed over: a file has its name once it is whole.
enum WholeFile {
    /// With `replacing`, an older file of that name goes; otherwise it stays, and that is an error.
    static func write(_ file: Descriptor, to path: String, replacing: Bool) throws(Failure) {
        // Its name is short, since that of the file may be as long as names can be.
        let part = FileSystem.join(FileSystem.folder(of: path), ".pipectl-\(getpid()).part")
        do {
            let target = try Descriptor.open(part, O_WRONLY | O_CREAT | O_EXCL)
            do {
                try FileSystem.copy(file, to: target, called: path, durably: false)
                try FileSystem.copyTimes(of: file, to: target)
                if replacing {
                    try FileSystem.rename(part, path)
                } else {
                    try FileSystem.renameWithoutReplacing(part, path)
                }
            } catch {
                try? FileSystem.remove(part)
                throw error
            }
        } catch {
            throw Failure("CannotWrite", "\(path): \((error as? SystemError)?.reason ?? "\(error)")", .failed)
        }
    }
}
