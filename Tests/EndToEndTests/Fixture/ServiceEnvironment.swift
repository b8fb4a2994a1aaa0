/// systemd's environment variables for services, as commands that precede the daemon's.
enum ServiceEnvironment {
    static func variables(_ variables: [String: String]) -> [String] {
        ["/usr/bin/env"] + variables.map { "\($0)=\($1)" }.sorted()
    }

    /// Passes `count` sockets, from descriptor 3 on.
    static func listening(_ count: Int, names: String) -> [String] {
        ["/bin/sh", "-c", #"export LISTEN_PID=$$ LISTEN_FDS=\#(count) LISTEN_FDNAMES=\#(names); exec "$@""#, "sh"]
    }

    /// Marks standard error as the journal's.
    static let journalStream = [
        "/bin/sh", "-c", #"export JOURNAL_STREAM="$(stat -L -c %d:%i /proc/self/fd/2)"; exec "$@""#, "sh",
    ]

    /// Puts the socket in this folder in the journal's place, or removes the journal's socket.
    static func journal(in folder: String?) -> [String] {
        let bind = folder.map { "mkdir -p /run/systemd/journal && mount --bind '\($0)' /run/systemd/journal &&" } ?? ""
        return [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", #"mount -t tmpfs none /run && \#(bind) exec "$@""#, "sh",
        ]
            + journalStream
    }
}
