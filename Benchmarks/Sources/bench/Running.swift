import Glibc

/// The running daemons and servers. A signal handler ends them, because they would outlive a bench that is killed from
/// outside. Peers need no signal: they end when their input ends.
enum Running {
    private static let most = 16

    /// `nonisolated(unsafe)`: the only other access is by a signal handler, which ends the process.
    nonisolated(unsafe) private static let ids = {
        let ids = UnsafeMutablePointer<pid_t>.allocate(capacity: most)
        ids.initialize(repeating: 0, count: most)
        return ids
    }()

    static func handleSignals() {
        replace(0, by: 0)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                for place in 0..<Running.most where Running.ids[place] != 0 { kill(Running.ids[place], SIGTERM) }
                _exit(128 + number)
            }
        }
    }

    static func add(_ id: pid_t) { replace(0, by: id) }
    static func remove(_ id: pid_t) { replace(id, by: 0) }

    private static func replace(_ old: pid_t, by new: pid_t) {
        if let place = (0..<most).first(where: { ids[$0] == old }) { ids[place] = new }
    }
}
