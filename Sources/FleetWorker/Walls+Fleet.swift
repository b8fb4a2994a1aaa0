import Glibc
import WorkerConfinement

/// The confinement of `pipelined-fleet`. The allowed calls were found in a trace of name lookups, connections, TLS,
/// lost connections, and pictures in both directions.
extension Walls {
    static let fleet = Walls(
        descriptors: 16384,
        readable: [
            // The resolver reads these files. Names are looked up in files and in DNS only. Other name services don't
            // work, because they need modules that are not loaded.
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
        ],
        connects: true,
        allowed: CallRule.ofEveryWorker + CallRule.ofConnectingWorkers
            + [
                // For the resolver, which reads files, and for pictures and results, which are sent in pieces.
                "openat", "pread64", "pwrite64", "ftruncate", "lseek",
                // For libnats, which connects to a server and waits for data.
                "connect", "getsockname", "getpeername", "getsockopt", "setsockopt", "shutdown", "sendto", "recvfrom",
                "sendmsg", "recvmsg", "sendmmsg", "poll", "ppoll", "fcntl", "ioctl",
                // Dispatch's timers.
                "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "timerfd_create",
                "timerfd_settime",
            ].map { CallRule($0) },
        // Dispatch makes these calls to set thread priorities and count processors, and works without them.
        refused: [CallRule("setpriority"), CallRule("sched_getaffinity")],
        deadly: CallRule.deadly)
}
