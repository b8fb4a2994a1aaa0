import CLinux
import Foundation
import Glibc

/// The number of processors that this service may use, by CPU affinity and control group quota.
package enum ProcessorCount {
    package static func usable() -> Int {
        // Reads the main thread's affinity, because other threads may have kept an older one. Falls back to
        // Foundation's count if the machine has more processors than a `cpu_set_t` can hold.
        let own = Int(clinux_processors(getpid()))
        let affinity = own > 0 ? own : ProcessInfo.processInfo.activeProcessorCount
        let older = ControlGroup.older("cpu")?.texts(of: "cpu.cfs_quota_us", "cpu.cfs_period_us") ?? []
        let texts = (ControlGroup.unified()?.texts(of: "cpu.max") ?? []) + older.map { "\($0) \($1)" }
        guard let quota = texts.compactMap(quota).min() else { return max(1, affinity) }
        return max(1, min(affinity, Int(quota.rounded(.up))))
    }

    /// `cpu.max` is "max 100000" or "150000 100000": quota and period in microseconds. The files of version 1 contain
    /// "-1" instead of "max".
    static func quota(_ text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0, quota > 0
        else {
            return nil
        }
        return quota / period
    }
}
