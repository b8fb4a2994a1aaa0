import Glibc
import SystemCalls

/// A resource limit of this process (getrlimit(2)). If a limit is too low, threads and workers can't start, and the
/// runtime crashes or hangs without a message. A program therefore checks its limits first.
package struct ProcessLimit: Sendable {
    private var resource: __rlimit_resource
    private var name: String
    /// The required minimum, in multiples of `unit`.
    private var least: rlim_t
    private var unit: rlim_t
    private var what: String
    private var setting: String
    private var shell: String

    package static let openFiles = ProcessLimit(
        resource: RLIMIT_NOFILE, name: "RLIMIT_NOFILE", least: 64, unit: 1, what: "open files",
        setting: "LimitNOFILE", shell: "ulimit -n")
    package static let addressSpace = ProcessLimit(
        resource: RLIMIT_AS, name: "RLIMIT_AS", least: 2048, unit: 1 << 20, what: "MB of address space",
        setting: "LimitAS", shell: "ulimit -v")
    package static let data = ProcessLimit(
        resource: RLIMIT_DATA, name: "RLIMIT_DATA", least: 512, unit: 1 << 20, what: "MB of data",
        setting: "LimitDATA", shell: "ulimit -d")

    /// Explains the first limit that is too low for `program`; nil if all are high enough.
    package static func complaint(of program: String, _ limits: [ProcessLimit]) -> String? {
        _ = OpenFiles.raiseLimit(to: Int(openFiles.least))
        return limits.lazy.compactMap { $0.complaint(of: program) }.first
    }

    private func complaint(of program: String) -> String? {
        var present = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &present) == 0, present.rlim_cur / unit < least else {
            return nil
        }
        return "\(program) needs \(least) \(what), and may have \(present.rlim_cur / unit) (\(name)); raise "
            + "\(setting)= of the service, or `\(shell)`"
    }
}
