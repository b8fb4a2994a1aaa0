import DaemonRuntime
import ServiceProgram
import SystemCalls
import WorkerPools

/// Removes files that are no longer needed. A failed removal is retried a few times. If a file still remains, the sweep
/// at the next start removes it.
package enum UnneededFile {
    package static func remove(_ path: String, tries: Int = 5) {
        do {
            try FileSystem.remove(path)
        } catch {
            guard error.isPassing, tries > 1 else {
                return Log.failure("\(error), ignoring; the next start removes it")
            }
            Coordination.after(Repetition.interval) {
                FileLanes.work(on: path).async { remove(path, tries: tries - 1) }
            }
        }
    }
}
