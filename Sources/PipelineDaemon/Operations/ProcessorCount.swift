import Foundation

/// The processors that this service may use: those of its affinity, less what a cgroup's quota takes.
enum ProcessorCount {
    static func usable() -> Int {
        let affinity = ProcessInfo.processInfo.activeProcessorCount
        guard let quota = cgroupQuota() else { return max(1, affinity) }
        return max(1, min(affinity, Int(quota.rounded(.up))))
    }

    /// The smallest quota on the way from this process's cgroup (v2) to the root, in processors.
    private static func cgroupQuota() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else { return nil }
        var path = String(line.dropFirst(3))
        var smallest: Double?
        while true {
            let file = "/sys/fs/cgroup\(path == "/" ? "" : path)/cpu.max"
            if let limit = (try? String(contentsOfFile: file, encoding: .utf8)).flatMap(quota) {
                smallest = min(limit, smallest ?? limit)
            }
            guard let slash = path.lastIndex(of: "/"), path != "/" else { return smallest }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// `cpu.max` reads "max 100000" or "150000 100000": microseconds in each period.
    static func quota(_ text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0 else {
            return nil
        }
        return quota / period
    }
}
