import Foundation
import Glibc

/// What the pictures in work need of the memory together, by the estimates of their headers. They are let in as they come; one that
/// finds no room waits, and those behind it with it, so that a heavy one gets its turn.
package struct MemoryRoom {
    var budget: Int64
    private var used: [ObjectIdentifier: Int64] = [:]

    init(budget: Int64) { self.budget = budget }

    /// A picture that needs so much is never let in.
    func canNeverHold(_ need: Int64) -> Bool { need > budget }

    mutating func enter(_ task: RenderTask, needing need: Int64) -> Bool {
        guard used.isEmpty || used.values.reduce(need, +) <= budget else { return false }
        used[ObjectIdentifier(task)] = need
        return true
    }

    /// What most pictures need no more than is set aside for one before its header is known. Nil when there is no such room.
    mutating func grant(_ task: RenderTask) -> Int64? {
        guard used.values.reduce(Self.usual, +) <= budget else { return nil }
        used[ObjectIdentifier(task)] = Self.usual
        return Self.usual
    }

    private static let usual: Int64 = 128 << 20

    /// The header of one that was granted something says what it needs of that.
    mutating func settle(_ task: RenderTask, needing need: Int64) { used[ObjectIdentifier(task)] = need }

    mutating func leave(_ task: RenderTask) { used[ObjectIdentifier(task)] = nil }

    /// The memory that this service may use: the machine's, or less where its control group says so.
    package static func usable() -> Int64 {
        let machine = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        let limits = ControlGroup.texts(of: "memory.max").compactMap { Int64($0.trimmingCharacters(in: .newlines)) }
        return limits.reduce(machine, min)
    }
}

extension Int64 {
    /// For people: "640 MB", "3.2 GB".
    var memoryText: String {
        let megabytes = Double(self) / 1e6
        return megabytes < 1000 ? "\(Int(megabytes.rounded(.up))) MB" : String(format: "%.1f GB", megabytes / 1000)
    }
}
