import CCurl
import Glibc
import WorkerConfinement

/// The confinement of `pipelined-fetch`. The allowed calls were found in a trace of name lookups, connections, TLS,
/// HTTP/1.1 and HTTP/2.
extension Walls {
    static let fetch = Walls(
        descriptors: 4096,
        readable: [
            // The resolver reads these files. Names are looked up in files and in DNS only. Other name services don't
            // work, because they need modules that are not loaded.
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
            // OpenSSL reads the trusted certificates in these folders. The first folder contains links into the other
            // two.
            "/etc/ssl/certs", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
        ],
        connects: true,
        allowed: CallRule.ofEveryWorker + CallRule.ofConnectingWorkers
            + [
                // For reading the files above, and for writing staging files.
                "openat", "pwrite64", "ftruncate", "lseek", "pread64",
                // For libcurl, which connects to servers. libcurl wakes its own thread through a socket pair or, since
                // version 8, through an event descriptor.
                "connect", "getsockname", "getpeername", "getsockopt", "setsockopt", "socketpair", "eventfd2",
                "shutdown", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "poll", "ppoll", "fcntl", "ioctl",
            ].map { CallRule($0) },
        deadly: CallRule.deadly)
}
