import Glibc
import SystemCalls

/// Writes a file from the daemon under a temporary name, and renames it once it is complete.
enum WholeFile {
    /// Writes the file to `path`. Throws if a file exists there, unless `replacing` is true.
    static func write(_ file: Descriptor, to path: String, replacing: Bool) throws(Failure) {
        // The temporary name is short, because the file's own name may already have the maximum length.
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
