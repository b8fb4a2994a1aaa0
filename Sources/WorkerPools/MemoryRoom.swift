import Foundation
import Glibc

/// Divides the memory budget among the pictures that are rendered at once. Each picture reserves the memory estimated
/// from its header, in order of arrival. If a picture does not fit, later pictures wait behind it. Otherwise, smaller
/// pictures could overtake a large picture forever.
package struct MemoryRoom {
    var budget: Int64
    private var used: [ObjectIdentifier: Int64] = [:]

    init(budget: Int64) { self.budget = budget }

    var granted: Int64 { used.values.reduce(0, +) }

    /// Whether a picture needs more than the whole budget, so that it can never be rendered.
    func isTooSmall(for need: Int64) -> Bool { need > budget }

    mutating func enter(_ task: RenderTask, needing need: Int64) -> Bool {
        guard used.isEmpty || used.values.reduce(need, +) <= budget else { return false }
        used[ObjectIdentifier(task)] = need
        return true
    }

    /// Reserves an amount that suffices for most pictures, before the header is known. Returns nil if the rest of the
    /// budget is too small.
    mutating func grant(_ task: RenderTask) -> Int64? {
        guard used.values.reduce(Self.usual, +) <= budget else { return nil }
        used[ObjectIdentifier(task)] = Self.usual
        return Self.usual
    }

    private static let usual: Int64 = 128 << 20

    /// Replaces the early reservation by the estimate from the picture's header.
    mutating func adjust(_ task: RenderTask, needing need: Int64) { used[ObjectIdentifier(task)] = need }

    mutating func leave(_ task: RenderTask) { used[ObjectIdentifier(task)] = nil }

    /// The memory that this service may use: the machine's memory, or the control group's limit if that is lower.
    package static func usable() -> Int64 {
        let machine = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        return limits(ControlGroup.unified(), ControlGroup.older("memory")).reduce(machine, min)
    }

    /// The limits in the control groups' files. Skips the text "max", with which version 2 says that there is no limit.
    /// For the same purpose, version 1 writes a number larger than any machine's memory.
    static func limits(_ unified: ControlGroup?, _ older: ControlGroup?) -> [Int64] {
        let texts = (unified?.texts(of: "memory.max") ?? []) + (older?.texts(of: "memory.limit_in_bytes") ?? [])
        return texts.compactMap { Int64($0.trimmingCharacters(in: .newlines)) }
    }
}

extension Int64 {
    /// A size for users: "640 MB", "3.2 GB".
    var memoryText: String {
        let megabytes = Double(self) / 1e6
        return megabytes < 1000 ? "\(Int(megabytes.rounded(.up))) MB" : String(format: "%.1f GB", megabytes / 1000)
    }
}
