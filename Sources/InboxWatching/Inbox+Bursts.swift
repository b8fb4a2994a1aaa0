import Dispatch
import PipelineModel
import SystemCalls

/// Tells of folders whose files have all come.
extension Inbox {
    /// Hands over what was taken, and ends what is over.
    func finishLook() {
        handOver()
        endBursts()
        publishReport()
    }

    private func endBursts() {
        let quiet = settling.folderQuietTime
        let now = DispatchTime.now()
        for burst in bursts.end(at: now, quiet: quiet, work: { settling.work(in: $0, at: now) }) {
            removeEmptyFolders(burst.came)
            sink.ended(folder: FileSystem.name(of: burst.folder.path), of: self)
        }
        checkLater(bursts.next(quiet: quiet))
    }

    /// Removes folders that came with files, and are empty now that these were taken. A folder that holds anything else
    /// stays.
    private func removeEmptyFolders(_ folders: [String]) {
        guard recipe.original != .keep, !folders.isEmpty, let claims = try? claimFolder() else { return }
        defer { claiming = nil }
        for path in folders where claims.removeIfEmpty(FileSystem.relative(path, to: folder)) { bursts.gone(path) }
    }
}
