import Glibc
import Synchronization

/// The moment at which the daemon is killed: before the `count`-th call of this kind on this path.
struct CrashPoint: Hashable, CustomStringConvertible {
    var call: String
    var path: String
    var count: Int

    var description: String { "\(call) \(path) \(count)" }

    static let ledger = "state/ledger.sqlite-wal"

    /// Returns a crash point for each recorded call that `isWanted` accepts and at which a kill makes a difference.
    /// Excludes all calls below `run/` and `state/`, among them the calls on the ledger.
    ///
    /// If a call changes nothing, a kill before it leaves the disk in the same state as a kill before the next call.
    /// Unless the sweep is whole, only one of these two calls gets a crash point.
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

/// Distributes the points of a sweep among several concurrent daemons.
///
/// The number of writes to the ledger differs between runs, so the points on the ledger can't be listed beforehand. For
/// each kind of call on the ledger, such as `fdatasync`, one run kills the daemon before the first call, the next run
/// before the second call, and so on. A kind is finished when a run ends without reaching its point.
final class CrashPoints: Sendable {
    private struct State {
        var points: ArraySlice<CrashPoint>
        /// The next point for each kind of call on the ledger.
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

    /// Records the outcome of a run. Returns false if the run should have reached the point but did not.
    func wasTried(_ point: CrashPoint, killed: Bool) -> Bool {
        state.withLock { state in
            if killed { state.reached += 1 }
            if !killed { state.ledger.removeAll { $0.call == point.call && $0.path == point.path } }
            return killed || point.path == CrashPoint.ledger
        }
    }
}
