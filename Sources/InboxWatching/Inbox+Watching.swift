import Dispatch
import Glibc
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

/// Opens the inbox's folder, and watches it with inotify or by polling.
extension Inbox {
    /// Reopens the inbox if another folder is at its path. Call when mounts have changed, because inotify does not
    /// report that.
    package nonisolated func mountsChanged() {
        async { if $0.hasBegun, !$0.isUnmoved { $0.reopen() } }
    }

    private var isUnmoved: Bool {
        guard report.problem == nil, let now = try? look() else { return false }
        return now == place
    }

    private func look() throws -> InboxPlace? {
        try FileSystem.status(folder).map {
            InboxPlace(
                mounts: try MountTable.depth(of: FileSystem.resolved(folder)), device: $0.device, inode: $0.inode)
        }
    }

    private func reopen() {
        inotify = nil
        settling.dropAll()
        open()
    }

    func open() {
        guard !stopped else { return }
        appointment += 1
        do {
            // If the file system of the inbox is not mounted, the folder at this path is not the inbox: don't create or
            // take anything there.
            guard try MountTable.depth(of: FileSystem.resolved(folder)) >= mounts else {
                return broken("its file system is not mounted any more; mount it, and work goes on")
            }
            if place != nil, report.problem == nil, try !FileSystem.exists(folder) { return gone() }
            // Other users may add pictures, as far as umask or ACL allow, but the sticky bit keeps them from removing
            // each other's pictures.
            try FileSystem.makeFolders(folder, mode: 0o1777)
            claiming = nil
            let claims = try claims.begin(folder) { try sink.needsClaims(in: folder) }
            kept = try sink.kept(in: folder)
            if adopts { try adopt(claims) }
            adopts = adopts && refusal != nil
            let foreign = try FileSystemType.polled(folder)
            do throws(SystemError) {
                _ = try FileSystem.names(in: folder)
            } catch {
                return broken(Permission.unreadable(folder, "folder", error), isPassing: error.isPassing)
            }
            place = try look()
            mounts = max(mounts, place?.mounts ?? 0)
            settling.isPolled =
                recipe.intake.watch == .poll || (recipe.intake.watch == .auto && foreign != nil)
            if report.problem != nil { Log.notice("inbox \(folder): is there again", of: subject) }
            shared.withLock {
                $0.problem = nil
                $0.isPassing = false
                $0.watch = settling.isPolled ? "poll" + (foreign.map { " (\($0))" } ?? "") : "inotify"
            }
            if settling.isPolled { pollLater() } else { startInotify() }
            shared.withLock { $0.isOpen = true }
            sink.changed(self)
            scan(isFirst: true)
            shared.withLock { $0.scanned = true }
            sink.changed(self)
        } catch {
            // Other errors come from the ledger. They count as temporary, so the inbox is reopened soon.
            let isPassing = (error as? SystemError)?.isPassing ?? !(error is UnsafeFolder)
            broken(Permission.unusable(folder, error), isPassing: isPassing)
        }
    }

    private func startInotify() {
        do {
            inotify = try Inotify(top: folder, queue: queue) { [unowned self] in
                assumeIsolated { inbox in if let inotify = inbox.inotify { inbox.handle(inotify.read()) } }
            }
        } catch {
            fallBack(error)
        }
    }

    /// Falls back to polling. Polling is slower, but needs no inotify watches, whose number is limited.
    func fallBack(_ error: SystemError) {
        inotify = nil
        guard !settling.isPolled else { return }
        settling.isPolled = true
        shared.withLock { $0.watch = "poll (\(error.reason))" }
        pollLater()
        Log.failure(
            "inbox \(folder): can't be watched (\(error)); polling it every \(recipe.intake.pollInterval.text)",
            advice: error.code == ENOSPC ? "raise fs.inotify.max_user_watches" : nil, of: subject)
    }

    private func gone() {
        handOver()
        broken("the folder is gone")
    }

    /// Stops taking files because of a problem, and reopens the inbox later: soon if the problem may be temporary,
    /// otherwise after PollInterval.
    func broken(_ problem: String, isPassing: Bool = false) {
        guard !stopped else { return }
        let interval = isPassing ? min(recipe.intake.pollInterval, Self.soon) : recipe.intake.pollInterval
        inotify = nil
        settling.dropAll()
        let news = shared.withLock { report in
            defer {
                report.problem = problem
                report.isPassing = isPassing
                report.isOpen = true
            }
            return report.problem != problem
        }
        if news {
            Log.failure("inbox \(folder): \(problem); trying again every \(interval.text)", of: subject)
        }
        publishReport()
        later(in: interval) { $0.open() }
    }

    private static let soon = Duration.seconds(2)

    private func pollLater() {
        later { inbox in
            do throws(SystemError) {
                guard try FileSystem.exists(inbox.folder) else { return inbox.gone() }
            } catch {
                return inbox.broken("\(error)", isPassing: error.isPassing)
            }
            inbox.scan()
            if inbox.report.problem == nil { inbox.pollLater() }
        }
    }

    func handle(_ events: [Inotify.Event]) {
        guard !stopped else { return }
        for event in events {
            step()
            // Ignore this event: the inbox itself caused it by claiming the file, and has moved the file back since.
            if case .gone(let path) = event, givenBack.contains(FileSystem.Key(path)) { continue }
            settling.heard(event, at: .now()) { (try? FileSystem.status($0))?.size == 0 }
            switch event {
            case .changed(let path), .made(let path), .written(let path), .closed(let path):
                bursts.heard(path, at: .now())
                consider(path, quiet: false)
            case .movedIn(let path):
                bursts.heard(path, at: .now())
                consider(path, quiet: givenBack.remove(FileSystem.Key(path)) == nil)
            case .gone(let path):
                bursts.heard(path, at: .now())
                logged[FileSystem.Key(path)] = nil
                forgetIgnored(path)
            case .folderAppeared(let path): scan(path, isNew: true)
            case .misnamed(let path): misnamed(path)
            case .folderGone(let path):
                bursts.gone(path)
                logged = logged.filter { !FileSystem.lies($0.key.path, within: path) }
                forgetIgnored(where: { FileSystem.lies($0.path, within: path) })
            case .overflow:
                Log.notice(
                    "inbox \(folder): the kernel dropped events; scanning the folder again", of: subject)
                scan()
            case .topGone:
                return gone()
            }
        }
        finishLook()
    }
}
