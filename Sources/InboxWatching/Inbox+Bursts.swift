import Dispatch
import PipelineModel
import ServiceProgram
import SystemCalls

/// Reports when all files of a folder have arrived and been handed over.
extension Inbox {
    /// Finishes a scan or check: hands over the claimed files, ends bursts, and publishes the report.
    func finishLook() {
        handOver()
        endBursts()
        publishReport()
    }

    /// Checks, on the inbox's own queue, whether pictures in a folder directly below the inbox will be taken. Calls
    /// `found` if so, and `done` in any case. Once the inbox has handed over those pictures, or once the pictures are
    /// gone, the inbox tells the sink that the folder's burst has ended.
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

    /// Removes folders that arrived during a burst and are empty after their files were taken. Folders with any other
    /// content stay.
    private func removeEmptyFolders(_ folders: [String]) {
        guard recipe.original != .keep, !folders.isEmpty, let claims = try? claimFolder() else { return }
        defer { claiming = nil }
        for path in folders where claims.removeIfEmpty(FileSystem.relative(path, to: folder)) { bursts.gone(path) }
    }
}
