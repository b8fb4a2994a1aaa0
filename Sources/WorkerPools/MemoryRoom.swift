import Foundation
import Glibc

/// The memory that the pictures in work need together, by the estimates of their headers. They are let in as they come; a
/// picture that finds no room waits, and the pictures behind it wait with it, so that a heavy one gets its turn.
package struct MemoryRoom {
    var budget: Int64
    private var used: [ObjectIdentifier: Int64] = [:]

    init(budget: Int64) { self.budget = budget }

    var granted: Int64 { used.values.reduce(0, +) }

    /// Whether a picture that needs so much can never be let in.
    func isTooSmall(for need: Int64) -> Bool { need > budget }

    mutating func enter(_ task: RenderTask, needing need: Int64) -> Bool {
        guard used.isEmpty || used.values.reduce(need, +) <= budget else { return false }
        used[ObjectIdentifier(task)] = need
        return true
    }

    /// Sets aside what is enough for most pictures, before the header is known. Nil when there is no room for that.
    mutating func grant(_ task: RenderTask) -> Int64? {
        guard used.values.reduce(Self.usual, +) <= budget else { return nil }
        used[ObjectIdentifier(task)] = Self.usual
        return Self.usual
    }

    private static let usual: Int64 = 128 << 20

    /// Keeps of a grant what the header says that the picture needs.
    mutating func adjust(_ task: RenderTask, needing need: Int64) { used[ObjectIdentifier(task)] = need }

    mutating func leave(_ task: RenderTask) { used[ObjectIdentifier(task)] = nil }

    /// The memory that this service may use: the machine's, or less where its control group says so.
    package static func usable() -> Int64 {
        let machine = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        return limits(ControlGroup.unified(), ControlGroup.older("memory")).reduce(machine, min)
    }

    /// "max" is none, and so is what version 1 writes for it, which is more than any machine has.
    static func limits(_ unified: ControlGroup?, _ older: ControlGroup?) -> [Int64] {
        let texts = (unified?.texts(of: "memory.max") ?? []) + (older?.texts(of: "memory.limit_in_bytes") ?? [])
        return texts.compactMap { Int64($0.trimmingCharacters(in: .newlines)) }
    }
}

extension Int64 {
    /// A size for people: "640 MB", "3.2 GB".
    var memoryText: String {
        let megabytes = Double(self) / 1e6
        return megabytes < 1000 ? "\(Int(megabytes.rounded(.up))) MB" : String(format: "%.1f GB", megabytes / 1000)
    }
}
