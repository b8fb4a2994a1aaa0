/// The variables by which systemd tells a service of its surroundings, as commands to put in front of the daemon's.
enum ServiceEnvironment {
    static func variables(_ variables: [String: String]) -> [String] {
        ["/usr/bin/env"] + variables.map { "\($0)=\($1)" }.sorted()
    }

    /// As many descriptors, from 3 on, are meant for it.
    static func listening(_ count: Int, names: String) -> [String] {
        ["/bin/sh", "-c", #"export LISTEN_PID=$$ LISTEN_FDS=\#(count) LISTEN_FDNAMES=\#(names); exec "$@""#, "sh"]
    }

    /// Its standard error is the journal's.
    static let journalStream = [
        "/bin/sh", "-c", #"export JOURNAL_STREAM="$(stat -L -c %d:%i /proc/self/fd/2)"; exec "$@""#, "sh",
    ]

    /// The journal's socket is the one in this folder, or there is none.
    static func journal(in folder: String?) -> [String] {
        let bind = folder.map { "mkdir -p /run/systemd/journal && mount --bind '\($0)' /run/systemd/journal &&" } ?? ""
        return [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-c", #"mount -t tmpfs none /run && \#(bind) exec "$@""#, "sh",
        ]
            + journalStream
    }
}
