import Glibc
import Synchronization

/// The moment of a kill: before the `count`-th call of this kind on this path.
struct CrashPoint: Hashable, CustomStringConvertible {
    var call: String
    var path: String
    var count: Int

    var description: String { "\(call) \(path) \(count)" }

    static let ledger = "state/ledger.sqlite-wal"

    /// The recorded calls that are worth a kill and that `isWanted`, without those on the ledger.
    ///
    /// A kill before a call that changes nothing leaves the same disk as a kill before the next call. Unless the sweep
    /// is whole, each state of the disk and of the ledger is tested once.
    static func all(in calls: [FileCall], isWhole: Bool, where isWanted: (CrashPoint) -> Bool) -> [CrashPoint] {
        var counts: [String: Int] = [:]
        var points: [CrashPoint] = []
        var hasChanged = true
        for call in calls {
            guard let path = call.paths.last, !path.hasPrefix("run/"), call.error != EEXIST else { continue }
            let key = "\(call.name) \(path)"
            counts[key, default: 0] += 1
            let point = CrashPoint(call: call.name, path: path, count: counts[key] ?? 1)
            if isWhole || hasChanged, !path.hasPrefix("state/"), isWanted(point) {
                points.append(point)
                hasChanged = false
            }
            if !call.isSync, call.error == 0 { hasChanged = true }
        }
        return points
    }
}

/// Hands out the points of a sweep to several daemons at once.
///
/// The number of writes to the ledger differs between runs. So the sweep kills before the first call of a kind, then
/// before the second, and so on, until a run ends without reaching its point.
final class CrashPoints: Sendable {
    private struct State {
        var points: ArraySlice<CrashPoint>
        /// The next call of each kind on the ledger.
        var ledger: [CrashPoint]
        var reached = 0
    }

    private let state: Mutex<State>

    init(_ points: [CrashPoint], onLedger calls: [String]) {
        let ledger = calls.map { CrashPoint(call: $0, path: CrashPoint.ledger, count: 1) }
        state = Mutex(State(points: points[...], ledger: ledger))
    }

    var reached: Int { state.withLock { $0.reached } }

    func next() -> CrashPoint? {
        state.withLock { state in
            if let point = state.points.popFirst() { return point }
            guard let point = state.ledger.first else { return nil }
            state.ledger[0].count += 1
            return point
        }
    }

    /// False when the point should have been reached but was not.
    func wasTried(_ point: CrashPoint, killed: Bool) -> Bool {
        state.withLock { state in
            if killed { state.reached += 1 }
            if !killed { state.ledger.removeAll { $0.call == point.call && $0.path == point.path } }
            return killed || point.path == CrashPoint.ledger
        }
    }
}
