import Dispatch
import SystemCalls

/// Files of no further use. One that can't be removed now is removed later, or by the sweep of the next start.
enum Litter {
    private static let queue = DispatchQueue(label: "pipelined.litter")

    static func remove(_ path: String) {
        do {
            try FileSystem.remove(path)
        } catch {
            guard error.isPassing else { return }
            queue.asyncAfter(deadline: .now() + Supervisor.retryInterval) { remove(path) }
        }
    }
}
