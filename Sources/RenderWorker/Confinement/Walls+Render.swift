import Glibc
import WorkerConfinement
import WorkerProtocol

/// The list was measured over every format read and written, whole and broken.
extension Walls {
    /// A render worker has its descriptors, no network, and no path but the folders that filters may read.
    static func render(readable: [String]) -> Walls {
        Walls(
            // The number covers the files of a job with the most outputs, and descriptors that libraries duplicate or
            // hold open.
            descriptors: WorkerChannel.mostDescriptors + 32,
            readable: readable,
            allowed: CallRule.ofEveryWorker + CallRule.ofTheChannel
                + [
                    // libvips' sources and targets, and TurboJPEG's file, need these.
                    "pread64", "pwrite64", "lseek", "dup",
                    // orc calls it around the temporary file that it tries before it takes anonymous memory.
                    "umask",
                    // dav1d counts processors.
                    "sched_getaffinity",
                    // glibc's qsort, by which libtiff sorts its tags, asks how much memory there is.
                    "sysinfo",
                ].map { CallRule($0) } + CallRule.ofMemory,
            opening: readable.isEmpty ? [] : CallRule.ofReaders,
            refused: readable.isEmpty ? [] : CallRule.ofFontconfig,
            // No codec and no filter has any business with sockets.
            deadly: CallRule.deadly + ["socket", "socketpair", "connect", "bind"].map { CallRule($0) })
    }

    /// fontconfig's settings, and the folders in which it finds fonts.
    static let fonts = [
        "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]
}

extension CallRule {
    /// Pages may become executable only where libvips makes its vector code at run time, with orc: without such code a
    /// resize costs 1.7 times as much, a blur 3 times, and where it is forbidden orc aborts. Newer versions of libvips
    /// may have that code built in (Highway).
    fileprivate static var ofMemory: [CallRule] {
        let calls = ["mmap", "mprotect"]
        guard dlsym(nil, "orc_init") == nil else { return calls.map { CallRule($0) } }
        return calls.map { CallRule($0, .bits(2, mask: PROT_EXEC, 0)) }
    }

    /// Filters may list folders and follow links. fontconfig 2.15 makes patterns of its settings absolute, and reads no
    /// settings at all when it can't.
    fileprivate static let ofReaders =
        [
            CallRule("access", .bits(1, mask: W_OK, 0)), CallRule("faccessat", .bits(2, mask: W_OK, 0)),
            CallRule("faccessat2", .bits(2, mask: W_OK, 0)),
            CallRule("fcntl", .equal(1, F_GETFD)), CallRule("fcntl", .equal(1, F_SETFD)),
        ] + ["getcwd", "getdents64", "readlink", "readlinkat", "fstatfs", "fadvise64"].map { CallRule($0) }

    /// When its cache is older than the fonts, fontconfig looks for a place for another, and works without one.
    fileprivate static let ofFontconfig =
        [
            CallRule("access", .bits(1, mask: W_OK, W_OK)), CallRule("faccessat", .bits(2, mask: W_OK, W_OK)),
            CallRule("faccessat2", .bits(2, mask: W_OK, W_OK)),
        ] + ["chmod", "fchmodat", "mkdir", "mkdirat"].map { CallRule($0) }
}
