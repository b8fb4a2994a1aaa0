import Dispatch
import PipelineModel
import Synchronization
import SystemCalls

/// A full disk is nobody's fault, nor is one that is not mounted: what met it waits, and goes on by itself when there is room, or the disk.
/// Of the recipes with that outbox nothing is taken meanwhile; the others go on.
///
/// It is the same when the ledger can't be written, only that then nothing goes on: what is not recorded must not be begun.
extension Supervisor {
    /// Why the work of an inbox or outbox waits, and what for.
    struct Shortage {
        enum Need {
            /// So many bytes, in an outbox that was full when a job needed it.
            case room(Int64)
            case mount
            /// The answers that these jobs wait for.
            case answer(Set<Int>)
        }

        var reason: String
        var need: Need

        var hope: String {
            switch need {
            case .room(let bytes): "\(bytes >> 10) KB are free there"
            case .mount: "it is mounted"
            case .answer: "it answers"
            }
        }
    }

    /// An inbox or outbox, as it lay when it was first looked at.
    struct KnownPlace: Sendable {
        var resolved: String
        var mounts: Int

        var isGone: Bool { ((try? MountTable.depth(of: resolved)) ?? mounts) < mounts }
    }

    /// A job has met a full outbox.
    func waitForRoom(_ job: Job, _ failure: JobFailure) {
        let outbox = job.record.order.outbox
        let needed = max(settings.freeSpace, 2 * failure.written)
        switch shortages[outbox]?.need {
        case .room(let known): shortages[outbox]?.need = .room(max(needed, known))
        case .mount, .answer: break
        case nil:
            Log.failure("\(job.record.path): \(failure.message)")
            begin(Shortage(reason: "no space in \(outbox)", need: .room(needed)), in: outbox)
        }
        wait(job, in: outbox)
    }

    /// Whether a job failed because its disk is gone, or does not answer, and waits for that.
    func waitsForPlace(_ job: Job) -> Bool {
        let order = job.record.order
        let place = [order.inbox, order.outbox].first { shortages[$0] != nil || knownPlaces[$0]?.isGone == true }
        guard let place else { return false }
        if shortages[place] == nil { beginGone(place) }
        wait(job, in: place)
        return true
    }

    private func wait(_ job: Job, in place: String) {
        job.waits = shortages[place]?.reason
        settleWaiting(job)
    }

    private func begin(_ shortage: Shortage, in place: String) {
        shortages[place] = shortage
        Log.failure("\(shortage.reason): its work waits, and goes on when \(shortage.hope)")
        setAside(place, shortage.reason)
        holdInboxes()
        if shortages.count == 1 { lookForRoomLater() }
    }

    private func beginGone(_ place: String) {
        begin(Shortage(reason: "\(place) is not mounted any more", need: .mount), in: place)
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
                queue.async { [self] in
                    guard (knownPlaces[folder]?.mounts ?? 0) <= mounts else { return }
                    knownPlaces[folder] = KnownPlace(resolved: resolved, mounts: mounts)
                }
            }
        }
    }

    /// Something was mounted or unmounted.
    func mountsChanged() {
        for inbox in inboxes { inbox.mountsChanged() }
        for (place, known) in knownPlaces where shortages[place] == nil && known.isGone { beginGone(place) }
        lookForRoom()
        learnPlaces()
    }

    // MARK: - Hanging

    /// Something is in work: until nothing is, it is looked at now and then whether the file systems answer.
    func watchForHangs() {
        guard !watchingForHangs else { return }
        watchingForHangs = true
        queue.asyncAfter(deadline: .now() + settings.hangTimeout.dispatch) { [self] in
            watchingForHangs = false
            lookForHangs()
            if window.values.contains(where: { $0.record.state != .queued }) { watchForHangs() }
        }
    }

    private func lookForHangs() {
        let latest = DispatchTime.now() - settings.hangTimeout.dispatch
        for job in window.values {
            for (queue, operation) in [(render, job.render as AsyncOperation), (publish, job.publish)] {
                guard let touch = operation.fileWork.current, touch.since < latest else { continue }
                setAside(job, operation, queue, touch.path)
            }
        }
    }

    /// The operation can't be stopped; its place in the queue is given to another, and nothing more of the kind is begun.
    private func setAside(_ job: Job, _ operation: AsyncOperation, _ operations: PipelineQueue, _ path: String) {
        let order = job.record.order
        let place = FileSystem.lies(path, within: order.inbox) ? order.inbox : order.outbox
        operations.setAside(operation)
        switch shortages[place]?.need {
        case .answer(let jobs): shortages[place]?.need = .answer(jobs.union([job.record.id]))
        case .room, .mount: return
        case nil: begin(Shortage(reason: "\(place) does not answer", need: .answer([job.record.id])), in: place)
        }
        hold(job.record.id, shortages[place]?.reason)
    }

    /// An operation of the job has ended: what it was waiting for has answered.
    func answered(_ job: Job) {
        for (place, shortage) in shortages {
            guard case .answer(var jobs) = shortage.need, jobs.remove(job.record.id) != nil else { continue }
            shortages[place]?.need = .answer(jobs)
            if jobs.isEmpty { goOn(place) }
        }
    }

    // MARK: - Waiting, and going on

    /// What has not begun waits as well, instead of being rendered in vain.
    private func setAside(_ place: String, _ reason: String) {
        // As in `cancelRows`: no row that is about to be changed is taken.
        fillHolds += 1
        ledger.setAside(place: place, reason: reason, except: Array(window.keys)) { [self] count in
            queue.async { [self] in
                counts[.queued, default: 0] -= count
                counts[.waiting, default: 0] += count
                fillHolds -= 1
                fill()
            }
        }
        for job in window.values where job.record.state == .queued {
            guard [job.record.order.outbox, job.record.order.inbox].contains(place) else { continue }
            guard !job.cancelRequested, !job.returning else { continue }
            job.waits = reason
            job.cancelOperations()
            settleCancelling(job)
        }
    }

    private func lookForRoomLater() {
        queue.asyncAfter(deadline: .now() + Self.retryInterval) { [self] in
            lookForRoom()
            if !shortages.isEmpty { lookForRoomLater() }
        }
    }

    private func lookForRoom() {
        for (place, shortage) in shortages where knownPlaces[place]?.isGone != true {
            switch shortage.need {
            case .mount: goOn(place)
            case .answer: break
            case .room(let bytes):
                files.async { [self] in
                    guard (try? staging.checkRoom(for: bytes, in: place)) != nil else { return }
                    queue.async { [self] in goOn(place) }
                }
            }
        }
    }

    private func goOn(_ place: String) {
        guard let shortage = shortages.removeValue(forKey: place) else { return }
        switch shortage.need {
        case .room: Log.notice("there is room in \(place) again")
        case .mount: Log.notice("\(place) is mounted again")
        case .answer: Log.notice("\(place) answers again")
        }
        bringBack(place)
        holdInboxes()
    }

    /// What waits for a place goes to the end of the queue.
    private func bringBack(_ place: String) {
        let most = counts[.waiting] ?? 0
        let position = nextPosition
        nextPosition += most
        ledger.bringBack(place: place, except: Array(window.keys), at: position) { [self] count in
            queue.async { [self] in
                counts[.waiting, default: 0] -= count
                counts[.queued, default: 0] += count
                fill()
            }
        }
    }

    // MARK: - What is held

    /// The ledger has become unwritable, or can be written again.
    func ledgerChanged() {
        render.hold(ledger.problem != nil)
        holdInboxes()
    }

    private var ledgerReason: String? { ledger.problem.map { "the ledger can't be written: \($0)" } }

    /// Why no queued job begins, if so.
    var heldReason: String? {
        let report = render.report
        return report.paused ? report.pauseText : ledgerReason
    }

    /// Tells each inbox whether it may take files.
    func holdInboxes() {
        for inbox in inboxes {
            inbox.hold(ledgerReason ?? shortages[current.outbox(of: inbox.recipe, places)]?.reason)
        }
    }

    /// What keeps the daemon from its work, in words.
    var problems: [String] {
        var problems: [String] = []
        if let ledgerReason { problems.append("\(ledgerReason); nothing is taken until it can") }
        for (_, shortage) in shortages.sorted(by: { $0.key < $1.key }) {
            problems.append("\(shortage.reason); its work goes on when \(shortage.hope)")
        }
        let stays = stuck.withLock { $0 }
        if let first = stays.min(by: { $0.key < $1.key }) {
            let more = stays.count > 1 ? " (and \(stays.count - 1) more)" : ""
            problems.append("job \(first.key): \(first.value)\(more)")
        }
        return problems
    }
}
