import CCurl
import Glibc
import WorkerConfinement

/// Measured over names, addresses, TLS, HTTP/1.1 and HTTP/2.
extension Walls {
    static let fetch = Walls(
        descriptors: 4096,
        readable: [
            // Looking up names; services beside the files and DNS would need modules, which are not loaded.
            "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
            // Which certificates this machine trusts. Links in the first lead to the others.
            "/etc/ssl/certs", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
        ],
        connects: true,
        allowed: CallRule.ofEveryWorker
            + [
                // Files that may be read, and the staging files.
                "openat", "pwrite64", "ftruncate", "lseek", "pread64",
                // Connections, and the sockets by which libcurl wakes itself.
                "connect", "getsockname", "getpeername", "getsockopt", "setsockopt", "socketpair", "shutdown",
                "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "poll", "ppoll", "fcntl", "ioctl",
                // OpenSSL asks whether it runs with another's rights, the resolver what this machine is called.
                "getuid", "geteuid", "getgid", "getegid", "uname",
            ].map { CallRule($0) }
            + [
                CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
                CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
                CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
                CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
                // Nothing that is mapped can be run: no code comes in by this way.
                CallRule("mmap", .bits(2, mask: PROT_EXEC, 0)),
                CallRule("mprotect", .bits(2, mask: PROT_EXEC, 0)),
            ],
        deadly: CallRule.deadly)
}
