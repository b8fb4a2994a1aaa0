/// The moment of a kill: before the `count`-th of a thread's calls of this kind on this path.
struct CrashPoint: Hashable, CustomStringConvertible {
    var call: String
    var path: String
    var count: Int

    var description: String { "\(call) \(path) \(count)" }

    static let ledger = "state/ledger.sqlite-wal"

    /// Every call of a recording that changes something. strace counts by thread, and the ledger's calls wander between
    /// threads: for them the count goes up to the calls of one thread.
    static func all(in calls: [TracedCall], withLedger: Bool) -> [CrashPoint] {
        var counts: [String: Int] = [:]
        var points: [CrashPoint] = []
        for call in calls {
            // strace compares only the first path of `rename`.
            guard let path = call.name == "rename" ? call.paths.first : call.paths.last, !path.hasPrefix("run/"),
                !call.text.contains("= -1 EEXIST")
            else {
                continue
            }
            if call.name == "openat", !call.text.contains("O_CREAT") { continue }
            let isLedger = path.hasPrefix("state/")
            if isLedger, !(withLedger && path == ledger && call.name != "openat") { continue }
            let key = "\(call.name) \(path) \(isLedger ? call.thread : "")"
            counts[key, default: 0] += 1
            let point = CrashPoint(call: call.name, path: path, count: counts[key] ?? 1)
            if !points.contains(point) { points.append(point) }
        }
        return points
    }
}
