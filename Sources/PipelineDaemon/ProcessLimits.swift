import Glibc
import SystemCalls

/// The limits that this process was started with. Below some of them no thread can begin and no worker starts, and the runtime
/// ends or waits without a word, so the start looks at them first.
enum ProcessLimits {
    private struct Limit {
        var resource: __rlimit_resource
        var name: String
        /// In `unit`s.
        var least: rlim_t
        var unit: rlim_t
        var what: String
        var setting: String
        var shell: String
    }

    private static let limits = [
        Limit(
            resource: RLIMIT_NOFILE, name: "RLIMIT_NOFILE", least: 64, unit: 1, what: "open files",
            setting: "LimitNOFILE", shell: "ulimit -n"),
        Limit(
            resource: RLIMIT_AS, name: "RLIMIT_AS", least: 2048, unit: 1 << 20, what: "MB of address space",
            setting: "LimitAS", shell: "ulimit -v"),
        Limit(
            resource: RLIMIT_DATA, name: "RLIMIT_DATA", least: 512, unit: 1 << 20, what: "MB of data",
            setting: "LimitDATA", shell: "ulimit -d"),
    ]

    static func check() throws(StartError) {
        _ = OpenFiles.raiseLimit(to: Int(limits[0].least))
        for limit in limits {
            var present = rlimit()
            guard getrlimit(__rlimit_resource_t(limit.resource.rawValue), &present) == 0,
                present.rlim_cur / limit.unit < limit.least
            else { continue }
            throw StartError(
                status: .failed,
                description:
                    "pipelined needs \(limit.least) \(limit.what), and may have \(present.rlim_cur / limit.unit) "
                    + "(\(limit.name)); raise \(limit.setting)= of the service, or `\(limit.shell)`")
        }
    }
}
