import DaemonRuntime
import PipelineModel
import SystemCalls

extension FileStatus {
    /// Neither content nor anything else of it has changed for so long. The change time can't be set back by whoever copies.
    func isQuiet(for time: Duration) -> Bool {
        let now = Int64(Timestamp.now() * 1e9)
        let latest = max(modified, changed)
        let (seconds, attoseconds) = time.components
        return latest <= now - (seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
