import Foundation
import Glibc

/// Live processes, and the resources that they have used so far.
struct ProcessTree {
    var ids: [pid_t]

    /// A process and all its descendants.
    init(of root: pid_t) {
        let parents = Self.all().compactMap { id in Self.fields(id).map { (id: id, parent: pid_t($0[1]) ?? 0) } }
        ids = [root]
        var index = 0
        while index < ids.count {
            ids += parents.filter { $0.parent == ids[index] }.map(\.id)
            index += 1
        }
    }

    init(ids: [pid_t]) { self.ids = ids }

    /// The processor time of all processes in seconds, from each process's own nanosecond clock. Includes children that
    /// have ended.
    var cpu: Double { ids.reduce(0) { $0 + Self.cpu($1) + Self.cpuOfEnded($1) } }

    /// The sum of the peak memory of each process, in bytes. Shared memory counts once for each process.
    var peak: Int { ids.reduce(0) { $0 + Self.memory($1, "VmHWM") } }

    static func cpu(_ id: pid_t) -> Double {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func cpuOfEnded(_ id: pid_t) -> Double {
        guard let fields = fields(id), fields.count > 14 else { return 0 }
        return ((Double(fields[13]) ?? 0) + (Double(fields[14]) ?? 0)) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    static func memory(_ id: pid_t, _ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) * 1024
    }

    static func name(_ id: pid_t) -> String {
        let name = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .newlines) ?? ""
    }

    private static func all() -> [pid_t] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    }

    /// Returns the fields of /proc/ID/stat after the name: state, parent, …
    private static func fields(_ id: pid_t) -> [String]? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let name = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: name)...].split(separator: " ").map(String.init)
    }
}
