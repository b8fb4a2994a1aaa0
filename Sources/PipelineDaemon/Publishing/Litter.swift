import DaemonRuntime
import Dispatch
import SystemCalls

/// Files of no further use. A file that can't be removed now is tried a few more times; the sweep of the next start
/// removes the rest.
enum Litter {
    private static let queue = DispatchQueue(label: "pipelined.litter")

    static func remove(_ path: String, tries: Int = 5) {
        do {
            try FileSystem.remove(path)
        } catch {
            guard error.isPassing, tries > 1 else {
                return Log.failure("\(error), ignoring; the next start removes it")
            }
            queue.asyncAfter(deadline: .now() + Shortages.interval.dispatch) { remove(path, tries: tries - 1) }
        }
    }
}
