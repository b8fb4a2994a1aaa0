import Glibc

/// How a worker's process ended, as `waitpid` tells.
struct WorkerEnd: CustomStringConvertible {
    let status: Int32

    private var signal: Int32 { status & 0x7f }

    /// The kernel ended it for a system call that only somebody tries who has taken it over.
    var isByConfinement: Bool { signal == SIGSYS }

    var description: String {
        signal != 0
            ? "was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
            : "ended by itself with status \((status >> 8) & 0xff)"
    }
}
