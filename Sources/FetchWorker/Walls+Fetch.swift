import CCurl
import Glibc
import WorkerConfinement

/// The list of calls comes from a trace of name lookups, connections, TLS, HTTP/1.1 and HTTP/2.
extension Walls {
    static let fetch = Walls(
        descriptors: 4096,
        readable: [
            // The resolver reads these. Services other than files and DNS would need modules, which are not loaded.
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
            // OpenSSL reads the trusted certificates here. Links in the first folder lead to the others.
            "/etc/ssl/certs", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
        ],
        connects: true,
        allowed: CallRule.ofEveryWorker + CallRule.ofConnectingWorkers
            + [
                // The worker reads these files, and writes staging files.
                "openat", "pwrite64", "ftruncate", "lseek", "pread64",
                // libcurl connects, and wakes itself through a socket pair, or since version 8 through an event
                // descriptor.
                "connect", "getsockname", "getpeername", "getsockopt", "setsockopt", "socketpair", "eventfd2",
                "shutdown", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "poll", "ppoll", "fcntl", "ioctl",
            ].map { CallRule($0) },
        deadly: CallRule.deadly)
}
