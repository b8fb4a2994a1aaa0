/// Commands that set systemd's environment variables for services before they start the daemon.
enum ServiceEnvironment {
    static func variables(_ variables: [String: String]) -> [String] {
        ["/usr/bin/env"] + variables.map { "\($0)=\($1)" }.sorted()
    }

    /// Announces that descriptors 3 and up are `count` passed sockets.
    static func listening(_ count: Int, names: String) -> [String] {
        ["/bin/sh", "-c", #"export LISTEN_PID=$$ LISTEN_FDS=\#(count) LISTEN_FDNAMES=\#(names); exec "$@""#, "sh"]
    }

    /// Makes standard error look like a stream to the journal.
    static let journalStream = [
        "/bin/sh", "-c", #"export JOURNAL_STREAM="$(stat -L -c %d:%i /proc/self/fd/2)"; exec "$@""#, "sh",
    ]

    /// Replaces the journal's socket with the socket in `folder`, or removes it if `folder` is nil.
    static func journal(in folder: String?) -> [String] {
        let bind = folder.map { "mkdir -p /run/systemd/journal && mount --bind '\($0)' /run/systemd/journal &&" } ?? ""
        return [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", #"mount -t tmpfs none /run && \#(bind) exec "$@""#, "sh",
        ]
            + journalStream
    }
}
