import Glibc

/// The reader of standard error, which decides the form of a line.
enum LogTarget {
    /// A person, or a file.
    case plain
    /// A part of systemd that takes a line's priority from its beginning (sd-daemon(3)).
    case prefixed
    /// The journal, which takes fields.
    case journal

    static let current: LogTarget = {
        var stream = stat()
        guard fstat(STDERR_FILENO, &stream) == 0 else { return .plain }
        if getenv("JOURNAL_STREAM").map({ String(cString: $0) }) == "\(stream.st_dev):\(stream.st_ino)" {
            // In another mount namespace the journal may be reachable only through standard error.
            return access("/run/systemd/journal/socket", W_OK) == 0 ? .journal : .prefixed
        }
        let isOurs = getenv("SYSTEMD_EXEC_PID").map { String(cString: $0) } == "\(getpid())"
        let isFile = stream.st_mode & S_IFMT == S_IFREG
        return isOurs && !isFile && isatty(STDERR_FILENO) == 0 ? .prefixed : .plain
    }()
}

/// syslog(3)'s numbers.
enum LogPriority: Int32 {
    case failure = 3
    case notice = 6
}
