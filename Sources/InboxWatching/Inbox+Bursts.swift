import DaemonRuntime
import Dispatch
import PipelineModel
import SystemCalls

/// Reports when all files of a folder have arrived.
extension Inbox {
    /// Hands over the claimed files, and ends finished bursts.
    func finishLook() {
        handOver()
        endBursts()
        publishReport()
    }

    /// Calls `found`, on the inbox's own queue, if pictures in a folder directly below the inbox are about to be taken,
    /// and `done` in any case. Once the inbox has handed them over or they are gone, it tells the sink that the folder
    /// has ended.
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

    /// Removes arrived folders that are empty after their files were taken. Folders with any other content stay.
    private func removeEmptyFolders(_ folders: [String]) {
        guard recipe.original != .keep, !folders.isEmpty, let claims = try? claimFolder() else { return }
        defer { claiming = nil }
        for path in folders where claims.removeIfEmpty(FileSystem.relative(path, to: folder)) { bursts.gone(path) }
    }
}
