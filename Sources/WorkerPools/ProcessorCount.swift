import CLinux
import Foundation
import Glibc

/// The number of processors that this service may use, by its affinity and by the quota of its control group.
package enum ProcessorCount {
    package static func usable() -> Int {
        // The first thread is asked, because others may keep an affinity from before a change. The set may be too small for a
        // very large machine.
        let own = Int(clinux_processors(getpid()))
        let affinity = own > 0 ? own : ProcessInfo.processInfo.activeProcessorCount
        let older = ControlGroup.older("cpu")?.texts(of: "cpu.cfs_quota_us", "cpu.cfs_period_us") ?? []
        let texts = (ControlGroup.unified()?.texts(of: "cpu.max") ?? []) + older.map { "\($0) \($1)" }
        guard let quota = texts.compactMap(quota).min() else { return max(1, affinity) }
        return max(1, min(affinity, Int(quota.rounded(.up))))
    }

    /// `cpu.max` reads "max 100000" or "150000 100000": microseconds in each period. Version 1 has "-1" for "max".
    static func quota(_ text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let quota = Double(words[0]), let period = Double(words[1]), period > 0, quota > 0
        else {
            return nil
        }
        return quota / period
    }
}
