import Glibc

/// The end of a worker's process, as `waitpid` reports it, with the supervisor's own knowledge of it.
package struct WorkerEnd: Sendable, CustomStringConvertible {
    let status: Int32
    /// The signal that had stopped it; it was killed for that.
    let stoppedBy: Int32?
    let wasKilledByUs: Bool

    private var signal: Int32 { status & 0x7f }

    /// The kernel ended it for a system call that no worker makes unless somebody has taken it over.
    var isByConfinement: Bool { signal == SIGSYS }

    /// Somebody else ended it, or the kernel did for want of memory: as far as is known it did nothing wrong.
    package var isFromOutside: Bool {
        stoppedBy == nil && !wasKilledByUs && [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(signal)
    }

    package var description: String {
        if let stoppedBy { return "was stopped by \(Self.name(stoppedBy))" }
        guard signal != 0 else { return "ended by itself with status \((status >> 8) & 0xff)" }
        let hint = signal == SIGKILL && !wasKilledByUs ? "; the system may have run out of memory" : ""
        return "was ended by \(Self.name(signal))\(hint)"
    }

    private static func name(_ signal: Int32) -> String { "signal \(signal) (\(String(cString: strsignal(signal))))" }
}
