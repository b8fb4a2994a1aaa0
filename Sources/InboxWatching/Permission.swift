import Glibc
import SystemCalls

/// Describes in words which permission is missing, and names the user, the path and its mode.
enum Permission {
    /// Why a file is not taken although it does not change.
    static let stillOpen = "a program still has it open for writing; it is taken when that program closes it"

    /// Why a file or folder can't be examined.
    static func unreadable(_ path: String, _ kind: String, _ error: SystemError) -> String {
        guard error.isRefusal else { return words(error) }
        return
            "the \(kind) can't be read by user \(User.current) (its mode is \(mode(of: path))); allow it, and it is taken"
    }

    static func unusable(_ inbox: String, _ error: any Error) -> String {
        guard let error = error as? SystemError, error.isRefusal else { return "\(error)" }
        let advice =
            error.code == EROFS
            ? "mount it for writing (in a service of systemd: ReadWritePaths=)"
            : "let that user read it, and take pictures out of it"
        return "can't be used by user \(User.current) (\(inbox) has mode \(mode(of: inbox))): \(error); \(advice)"
    }

    static func unclaimable(in folder: String, _ error: any Error) -> String {
        guard let error = error as? SystemError else { return "\(error)" }
        guard error.isRefusal else { return words(error) }
        let advice =
            error.code == EPERM && isSticky(folder)
            ? "its sticky bit leaves that to the owners of file and folder: `chown \(User.current)` the folder, or "
                + "`chmod -t` it" : "allow it"
        return "can't be taken out of its folder by user \(User.current) (\(folder) has mode \(mode(of: folder))): "
            + "\(error); \(advice), and it is taken"
    }

    private static func words(_ error: SystemError) -> String {
        error.code == ENAMETOOLONG ? tooLong(error.subject.utf8.count) : "\(error)"
    }

    static func tooLong(_ length: Int) -> String {
        "its path is too long (here, or where the picture goes, it has \(length) bytes of at most \(PATH_MAX - 1)); shorten its "
            + "name, or the name of a folder above it"
    }

    static func closed(_ folder: String) -> String {
        "the pictures in \(folder) are worked on, and stay there: user \(User.current) may not take them out "
            + "(its mode is \(mode(of: folder))); `chmod g+w` it before, or remove them yourself"
    }

    /// Whether files in the folder can be read but not moved out.
    static func isClosed(_ folder: String) -> Bool {
        access(folder, R_OK | X_OK) == 0 && access(folder, W_OK) != 0
    }

    private static func isSticky(_ folder: String) -> Bool {
        (try? FileSystem.status(folder)).map { $0.mode & S_ISVTX != 0 } ?? false
    }

    private static func mode(of path: String) -> String {
        (try? FileSystem.status(path)).map { String($0.mode & 0o7777, radix: 8) } ?? "unknown"
    }
}
