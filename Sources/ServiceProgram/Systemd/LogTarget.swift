import Glibc

/// The recipient of the log, which decides the format of its lines.
enum LogTarget {
    /// A terminal, a file or another program.
    case plain
    /// A part of systemd that reads each line's priority from a prefix such as `<3>` (sd-daemon(3)).
    case prefixed
    /// The journal, which accepts fields.
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

/// The priorities, with their numbers in syslog(3).
enum LogPriority: Int32 {
    case failure = 3
    case notice = 6
}
