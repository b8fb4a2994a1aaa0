import DaemonRuntime
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

    /// Calls `found`, on the inbox's own queue, if pictures of a folder right below the inbox are on their way, and `done`
    /// in any case. When they have been handed over, or have gone, the sink is told that the folder has ended.
    package nonisolated func expect(
        _ name: String, wanted: @escaping @Sendable () -> Bool, found: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        async { inbox in
            if !inbox.stopped, wanted(), inbox.isToExpect(name) { found() }
            done()
        }
    }

    private func isToExpect(_ name: String) -> Bool {
        let path = FileSystem.join(folder, name)
        guard !name.contains("/"), !FileNames.isHidden(name), (try? FileSystem.status(path))?.kind == .folder else {
            return false
        }
        if let inotify { handle(inotify.read()) } else if settling.isPolled { scan(path) }
        let (top, now) = (FileSystem.Key(path), DispatchTime.now())
        guard bursts.contains(top) || settling.work(in: top, at: now) != nil else { return false }
        bursts.expect(top, at: now)
        checkLater(bursts.next(quiet: settling.folderQuietTime))
        return true
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
