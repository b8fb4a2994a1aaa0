/// The moment of a kill: before the `count`-th of a thread's calls of this kind on this path.
struct CrashPoint: Hashable, CustomStringConvertible {
    var call: String
    var path: String
    var count: Int

    var description: String { "\(call) \(path) \(count)" }

    static let ledger = "state/ledger.sqlite-wal"

    /// The calls of a recording that a kill is worth, as far as they are wanted. strace counts by thread, and the ledger's
    /// calls wander between threads: for them the count goes up to the calls of one thread.
    ///
    /// A kill before a call that changes nothing leaves the same disk as a kill before the next one. Unless the sweep is
    /// whole, each state of the disk counts once, and a commit of the ledger as one change.
    static func all(
        in calls: [TracedCall], withLedger: Bool, isWhole: Bool, where isWanted: (CrashPoint) -> Bool
    ) -> [CrashPoint] {
        var counts: [String: Int] = [:]
        var points: [CrashPoint] = []
        var hasChanged = true
        for call in calls {
            // strace compares only the first path of `rename`.
            guard let path = call.name == "rename" ? call.paths.first : call.paths.last, !path.hasPrefix("run/"),
                !call.text.contains("= -1 EEXIST")
            else {
                continue
            }
            if call.name == "openat", !call.text.contains("O_CREAT") { continue }
            let isLedger = path.hasPrefix("state/")
            let key = "\(call.name) \(path) \(isLedger ? call.thread : "")"
            counts[key, default: 0] += 1
            let point = CrashPoint(call: call.name, path: path, count: counts[key] ?? 1)
            let isPossible =
                !isLedger || (withLedger && path == ledger && call.name != "openat" && (isWhole || call.isSync))
            if isPossible, isWhole || hasChanged, isWanted(point), !points.contains(point) {
                points.append(point)
                hasChanged = false
            }
            if !call.isSync, !call.text.contains("= -1 ") { hasChanged = true }
        }
        return points
    }
}

extension TracedCall {
    fileprivate var isSync: Bool { name == "fsync" || name == "fdatasync" }
}
