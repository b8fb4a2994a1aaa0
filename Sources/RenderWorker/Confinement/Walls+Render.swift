import Glibc
import WorkerConfinement
import WorkerProtocol

/// The system calls that a render worker needs. The list was found by reading and writing every format, with intact and
/// damaged files.
extension Walls {
    /// A render worker may use its descriptors and the folders that filters may read, but no other path and no network.
    static func render(readable: [String]) -> Walls {
        Walls(
            // Enough for the descriptors of the largest message, and for descriptors that libraries duplicate or keep
            // open.
            descriptors: WorkerChannel.mostDescriptors + 32,
            readable: readable,
            allowed: CallRule.ofEveryWorker + CallRule.ofTheChannel
                + [
                    // libvips' sources and targets, and TurboJPEG's file, need these.
                    "pread64", "pwrite64", "lseek", "dup",
                    // orc calls `umask` to create a temporary file, before it falls back to anonymous memory.
                    "umask",
                    // dav1d counts processors.
                    "sched_getaffinity",
                    // libtiff sorts its tags with glibc's qsort, which asks how much memory there is.
                    "sysinfo",
                ].map { CallRule($0) } + CallRule.ofMemory,
            opening: readable.isEmpty ? [] : CallRule.ofReaders,
            refused: readable.isEmpty ? [] : CallRule.ofFontconfig,
            // Codecs and filters never need sockets.
            deadly: CallRule.deadly + ["socket", "socketpair", "connect", "bind"].map { CallRule($0) })
    }

    /// fontconfig's settings, and the folders in which it finds fonts.
    static let fonts = [
        "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]
}

extension CallRule {
    /// Pages may become executable only where libvips generates vector code at run time, with orc. Without that code, a
    /// resize costs 1.7 times as much, and a blur 3 times as much. If a system call that makes pages executable is
    /// refused, orc aborts. Newer versions of libvips may have vector code built in (Highway) instead.
    fileprivate static var ofMemory: [CallRule] {
        let calls = ["mmap", "mprotect"]
        guard dlsym(nil, "orc_init") == nil else { return calls.map { CallRule($0) } }
        return calls.map { CallRule($0, .bits(2, mask: PROT_EXEC, 0)) }
    }

    /// Filters may list folders and follow links. fontconfig 2.15 makes path patterns in its settings absolute, and
    /// reads no settings at all if it can't do that.
    fileprivate static let ofReaders =
        [
            CallRule("access", .bits(1, mask: W_OK, 0)), CallRule("faccessat", .bits(2, mask: W_OK, 0)),
            CallRule("faccessat2", .bits(2, mask: W_OK, 0)),
            CallRule("fcntl", .equal(1, F_GETFD)), CallRule("fcntl", .equal(1, F_SETFD)),
        ] + ["getcwd", "getdents64", "readlink", "readlinkat", "fstatfs", "fadvise64"].map { CallRule($0) }

    /// fontconfig tries to write a new cache if its cache is older than the fonts. It also works without a new cache,
    /// so these calls fail instead of killing the worker.
    fileprivate static let ofFontconfig =
        [
            CallRule("access", .bits(1, mask: W_OK, W_OK)), CallRule("faccessat", .bits(2, mask: W_OK, W_OK)),
            CallRule("faccessat2", .bits(2, mask: W_OK, W_OK)),
        ] + ["chmod", "fchmodat", "mkdir", "mkdirat"].map { CallRule($0) }
}
