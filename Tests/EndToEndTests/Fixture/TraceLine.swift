/// A line that the daemon logs if `Log=operations` is set, such as `2026-11-22 12:00:00 render job 3 behind barrier 1:
/// executing`.
struct TraceLine: Hashable, CustomStringConvertible {
    /// The queue and the subject of the operation.
    var operation: String
    var state: String

    var description: String { "\(operation): \(state)" }

    init(_ operation: String, _ state: String) { (self.operation, self.state) = (operation, state) }

    init?(logged line: Substring) {
        let parts = line.split(separator: ": ")
        let words = parts.first?.split(separator: " ").dropFirst(2) ?? []
        guard parts.count == 2, let queue = words.first, ["download", "render", "publish", "announce"].contains(queue),
            let kind = words.dropFirst().first, ["job", "batch"].contains(kind)
        else { return nil }
        self.init(words.joined(separator: " "), String(parts[1]))
    }

    var isEnd: Bool { ["finished", "failed", "cancelled"].contains(state) }

    static func all(in log: some StringProtocol) -> [TraceLine] {
        log.split(separator: "\n").compactMap { TraceLine(logged: Substring($0)) }
    }
}

extension DaemonFixture {
    var trace: [TraceLine] { TraceLine.all(in: log) }

    /// Waits until the operation reaches this state.
    func operation(_ operation: String, becomes state: String) async throws {
        try await says(" \(TraceLine(operation, state))\n")
    }
}
