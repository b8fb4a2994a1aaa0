import Glibc
import WorkerConfinement

/// The list of calls comes from a trace of name lookups, connections, TLS, lost lines, and pictures in both directions.
extension Walls {
    static let fleet = Walls(
        descriptors: 16384,
        readable: [
            // The resolver reads these. Services other than files and DNS would need modules, which are not loaded.
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
        ],
        connects: true,
        allowed: CallRule.ofEveryWorker + CallRule.ofConnectingWorkers
            + [
                // The resolver reads files. Pictures and results travel in pieces, through `pread64` and `pwrite64`.
                "openat", "pread64", "pwrite64", "ftruncate", "lseek",
                // libnats connects, and waits for its socket.
                "connect", "getsockname", "getpeername", "getsockopt", "setsockopt", "shutdown", "sendto", "recvfrom",
                "sendmsg", "recvmsg", "sendmmsg", "poll", "ppoll", "fcntl", "ioctl",
                // Dispatch's timers.
                "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "timerfd_create",
                "timerfd_settime",
            ].map { CallRule($0) },
        // Dispatch gives its threads priorities, and counts processors.
        refused: [CallRule("setpriority"), CallRule("sched_getaffinity")],
        deadly: CallRule.deadly)
}
