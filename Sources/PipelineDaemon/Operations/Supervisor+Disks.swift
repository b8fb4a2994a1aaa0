import DaemonRuntime
import Dispatch
import InboxWatching
import OperationGraph
import PipelineModel
import Synchronization
import SystemCalls

/// Disks that are gone, and disks that do not answer.
extension Supervisor {
    /// An inbox or outbox, as it lay when it was first looked at.
    struct KnownPlace: Sendable {
        var resolved: String
        var mounts: Int

        var isGone: Bool { ((try? MountTable.depth(of: resolved)) ?? mounts) < mounts }
    }

    // MARK: - Mounts

    /// Learns where the inboxes and outboxes lie, so that it is known when they no longer do.
    func learnPlaces() {
        let folders =
            current.configuration.recipes.flatMap { [current.inbox(of: $0, places), current.outbox(of: $0, places)] }
            + [places.inbox, current.adHocOutbox(places)]
        files.async { [self] in
            for folder in Set(folders) {
                let resolved = FileSystem.resolved(folder)
                guard let mounts = try? MountTable.depth(of: resolved) else { continue }
                Coordination.async { [self] in
                    guard (knownPlaces[folder]?.mounts ?? 0) <= mounts else { return }
                    knownPlaces[folder] = KnownPlace(resolved: resolved, mounts: mounts)
                }
            }
        }
    }

    /// Something was mounted or unmounted.
    func mountsChanged() {
        for inbox in inboxes { inbox.mountsChanged() }
        for (place, known) in knownPlaces where shortages[.place(place)] == nil && known.isGone { beginGone(place) }
        lookForRoom()
        learnPlaces()
    }

    // MARK: - Hanging

    /// Something is in work: until nothing is, it is looked at now and then whether the file systems answer.
    func watchForHangs() {
        guard !watchingForHangs else { return }
        watchingForHangs = true
        Coordination.after(settings.hangTimeout) { [self] in
            watchingForHangs = false
            lookForHangs()
            let movesSome = !moving.withLock { $0.isEmpty }
            if movesSome || window.all.contains(where: { $0.record.state != .queued }) { watchForHangs() }
        }
    }

    private func lookForHangs() {
        let latest = DispatchTime.now() - settings.hangTimeout.dispatch
        for job in window.all {
            for operation in job.operations {
                guard let touch = operation.fileWork.current, touch.since < latest else { continue }
                setAside(job, operation, touch.path)
            }
        }
        lookForHangingMoves(since: latest)
    }

    /// The operation can't be stopped; its place in the queue is given to another, and nothing more of the kind is begun.
    private func setAside(_ job: Job, _ operation: AsyncOperation, _ path: String) {
        let order = job.record.order
        let place = FileSystem.lies(path, within: order.inbox) ? order.inbox : order.outbox
        operation.setAside()
        switch shortages[.place(place)]?.need {
        case .answer(let jobs): shortages[.place(place)]?.need = .answer(jobs.union([job.record.id]))
        case .room, .mount, .permission, .plugin, .replacement: return
        case nil:
            begin(Shortage(reason: "\(place) does not answer", need: .answer([job.record.id])), of: .place(place))
        }
        hold(job.record.id, shortages[.place(place)]?.reason)
    }

    /// An operation of the job has ended: what it was waiting for has answered.
    func answered(_ job: Job) {
        for (resource, shortage) in shortages {
            guard case .answer(var jobs) = shortage.need, jobs.remove(job.record.id) != nil else { continue }
            shortages[resource]?.need = .answer(jobs)
            if jobs.isEmpty { goOn(resource) }
        }
    }
}
