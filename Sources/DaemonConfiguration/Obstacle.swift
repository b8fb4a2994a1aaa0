import Glibc
import InboxWatching
import SystemCalls

/// Why a missing folder can't be created.
struct Obstacle: Equatable {
    /// For the administrator: the obstacle and the remedy.
    var message: String
    /// True if the path itself is impossible. False for a missing permission or link target, which can still be
    /// provided.
    var isLasting: Bool

    /// Returns nil if the folder exists, can be created, or may appear when a file system is mounted.
    init?(to folder: String) {
        var raw = stat()
        var (path, reason) = (folder, Int32(0))
        while stat(path, &raw) != 0 {
            reason = errno
            switch reason {
            case ENOENT, ENOTDIR, EACCES: break
            case ELOOP, ENAMETOOLONG:
                self.init(message: "\(Self.words(reason)); name another folder", isLasting: true)
                return
            // Any other error comes from the disk, and proves nothing about the path.
            default: return nil
            }
            if let target = try? FileSystem.target(of: path), reason == ENOENT {
                guard !MountTable.mayCome(with: target) else { return nil }
                self.init(
                    message: "\(path) is a link to \(target), which does not exist; make that, or remove the link",
                    isLasting: false)
                return
            }
            guard path != "/" else { return nil }
            path = FileSystem.folder(of: path)
        }
        guard raw.st_mode & S_IFMT == S_IFDIR else {
            self.init(message: "\(path) is not a folder; move it away, or name another folder", isLasting: true)
            return
        }
        guard path != folder, !MountTable.mayCome(with: folder) else { return nil }
        if let kind = FileSystemType.withoutFiles(path) {
            self.init(message: "\(path) is \(kind), which takes no files; name another folder", isLasting: true)
            return
        }
        do throws(SystemError) {
            try FileSystem.checkWritable(path)
        } catch {
            let advice =
                error.code == EROFS
                ? "a unit's sandbox is opened by ReadWritePaths=\(path)"
                : "give \(path) to the daemon's user, or make it"
            self.init(message: "\(path) can't be written: \(error.reason); \(advice)", isLasting: false)
            return
        }
        return nil
    }

    private init(message: String, isLasting: Bool) { (self.message, self.isLasting) = (message, isLasting) }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }
}
