import Glibc
import WorkerConfinement
import WorkerProtocol

/// Measured over every format read and written, whole and broken.
extension Walls {
    /// Descriptors alone, no network, and of paths nothing but what filters may read.
    static func render(readable: [String]) -> Walls {
        Walls(
            // The files of a job of the most outputs, and what libraries duplicate or hold open.
            descriptors: WorkerChannel.mostDescriptors + 32,
            readable: readable,
            allowed: CallRule.ofEveryWorker + CallRule.ofTheChannel
                + [
                    // Sources and targets of libvips, TurboJPEG's file.
                    "pread64", "pwrite64", "lseek", "dup",
                    // Mapped sources. Pages may become executable: orc, in libvips, makes vector code at run time. Without such code a
                    // resize costs 1.7 times as much, a blur 3 times; forbidden to make it, orc aborts.
                    "mmap", "mprotect",
                    // orc, around the temporary file that it tries for before it takes anonymous memory.
                    "umask",
                    // dav1d counts processors.
                    "sched_getaffinity",
                    // glibc's qsort, by which libtiff sorts its tags, asks how much memory there is.
                    "sysinfo",
                ].map { CallRule($0) },
            opening: readable.isEmpty ? [] : CallRule.ofReaders,
            refused: readable.isEmpty ? [] : CallRule.ofFontconfig,
            // No codec and no filter has any business with sockets.
            deadly: CallRule.deadly + ["socket", "socketpair", "connect", "bind"].map { CallRule($0) })
    }

    /// Where fontconfig finds fonts, and how it is to choose.
    static let fonts = [
        "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]
}

extension CallRule {
    /// Listing folders, following links.
    fileprivate static let ofReaders =
        [
            CallRule("access", .bits(1, mask: W_OK, 0)), CallRule("faccessat", .bits(2, mask: W_OK, 0)),
            CallRule("faccessat2", .bits(2, mask: W_OK, 0)),
            CallRule("fcntl", .equal(1, F_GETFD)), CallRule("fcntl", .equal(1, F_SETFD)),
        ] + ["getdents64", "readlink", "readlinkat", "fstatfs", "fadvise64"].map { CallRule($0) }

    /// When its cache is older than the fonts, it looks for a place to write another to, and does as well without.
    fileprivate static let ofFontconfig =
        [
            CallRule("access", .bits(1, mask: W_OK, W_OK)), CallRule("faccessat", .bits(2, mask: W_OK, W_OK)),
            CallRule("faccessat2", .bits(2, mask: W_OK, W_OK)),
        ] + ["chmod", "fchmodat", "mkdir", "mkdirat"].map { CallRule($0) }
}
