import Glibc
import SystemCalls

/// What the modes of files and folders keep this process from, in words that name user, place and mode.
enum Permission {
    static func unreadable(_ path: String, _ kind: String) -> String {
        "the \(kind) can't be read by user \(User.current) (its mode is \(mode(of: path))); allow it, and it is taken"
    }

    static func unclaimable(in folder: String, _ error: any Error) -> String {
        "can't be taken out of its folder by user \(User.current) (\(folder) has mode \(mode(of: folder))): \(error); "
            + "allow it, and it is taken"
    }

    static func closed(_ folder: String) -> String {
        "the pictures in \(folder) are worked on, and stay there: user \(User.current) may not take them out "
            + "(its mode is \(mode(of: folder))); `chmod g+w` it before, or remove them yourself"
    }

    /// What lies in the folder may be read, but not taken out.
    static func isClosed(_ folder: String) -> Bool {
        access(folder, R_OK | X_OK) == 0 && access(folder, W_OK) != 0
    }

    private static func mode(of path: String) -> String {
        (try? FileSystem.status(path)).map { String($0.mode & 0o7777, radix: 8) } ?? "unknown"
    }
}

/// Who this process is, for messages.
enum User {
    static let current: String = {
        guard let entry = getpwuid(geteuid()) else { return "\(geteuid())" }
        return String(cString: entry.pointee.pw_name)
    }()
}
