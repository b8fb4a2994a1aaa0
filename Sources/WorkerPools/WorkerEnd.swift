import Glibc

/// How a worker's process ended: the status from `waitpid`, and what the supervisor knows.
package struct WorkerEnd: Sendable, CustomStringConvertible {
    let status: Int32
    /// The signal that had stopped it, for which the supervisor killed it.
    let stoppedBy: Int32?
    let wasKilledByUs: Bool

    private var signal: Int32 { status & 0x7f }

    /// The kernel ended it for a system call that only a compromised worker makes.
    var isByConfinement: Bool { signal == SIGSYS }

    /// Another process killed it, or the kernel did for lack of memory: probably not its own fault.
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
