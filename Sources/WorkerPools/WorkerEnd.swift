import Glibc

/// How a worker's process ended: its status from `waitpid`, and why the supervisor killed it, if it did.
package struct WorkerEnd: Sendable, CustomStringConvertible {
    let status: Int32
    /// The signal, such as SIGSTOP, that had suspended the worker. Nil unless the supervisor killed the worker because
    /// it was suspended.
    let stoppedBy: Int32?
    let wasKilledByUs: Bool

    private var signal: Int32 { status & 0x7f }

    /// Whether the kernel ended the worker for a system call that only a compromised worker makes.
    var isByConfinement: Bool { signal == SIGSYS }

    /// Whether another process killed the worker, or the kernel killed it for lack of memory. In both cases, the worker
    /// and its picture are probably not at fault.
    package var isFromOutside: Bool {
        stoppedBy == nil && !wasKilledByUs && [SIGKILL, SIGTERM, SIGINT, SIGHUP].contains(signal)
    }

    package var description: String {
        if let stoppedBy { return "was stopped by \(Self.name(stoppedBy))" }
        guard signal != 0 else { return "exited with status \((status >> 8) & 0xff)" }
        let hint = signal == SIGKILL && !wasKilledByUs ? "; the system may have run out of memory" : ""
        return "was ended by \(Self.name(signal))\(hint)"
    }

    private static func name(_ signal: Int32) -> String { "signal \(signal) (\(String(cString: strsignal(signal))))" }
}
