import DaemonRuntime
import Dispatch
import InboxWatching
import OperationGraph
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// A full disk is nobody's fault, nor is one that is not mounted or may not be written, nor a filter that is missing: what met it waits,
/// and goes on by itself when that is mended. Of the recipes that need it nothing is taken meanwhile; the others go on.
///
/// It is the same when the ledger can't be written, only that then nothing goes on: what is not recorded must not be begun.
extension Supervisor {
    /// Why the work that needs something waits, and what for.
    struct Shortage {
        enum Need {
            /// The place was full for a job that had written so many bytes; `hope` says what the work waits for.
            case room(written: Int64, hope: String)
            case mount
            case permission
            case plugin
            /// Another version of a filter.
            case replacement
            /// The answers that these jobs wait for.
            case answer(Set<Int>)
        }

        var reason: String
        var need: Need

        var hope: String {
            switch need {
            case .room(_, let hope): hope
            case .mount: "it is mounted"
            case .permission: "it can be written"
            case .plugin: "its plugin is back, or `pipectl reload` finds it"
            case .replacement: "another version of it is loaded (`pipectl reload`)"
            case .answer: "it answers"
            }
        }
    }

    /// A job has met a full outbox, or there is no room for its download.
    func waitForRoom(_ job: Job, _ failure: JobFailure) {
        let place = job.record.needsDownload ? Resource.spool(places.spool) : .place(job.record.order.outbox)
        let folder = job.record.needsDownload ? places.spool : job.record.order.outbox
        let freeSpace = settings.freeSpace
        look(job) {
            try? DiskRoom(in: folder)
        } then: { [self] room in
            var written = failure.written
            if case .room(let known, _) = shortages[place]?.need { written = max(written, known) }
            let hope = room?.hope(written: written, freeSpace: freeSpace) ?? "there is room"
            switch shortages[place]?.need {
            case .room: shortages[place]?.need = .room(written: written, hope: hope)
            case .mount, .permission, .plugin, .replacement, .answer: break
            case nil:
                Log.failure("\(job.record.path): \(failure.message)", of: LogSubject(job.record, failure))
                begin(Shortage(reason: "no space in \(place)", need: .room(written: written, hope: hope)), of: place)
            }
            wait(job, for: place)
        }
    }

    /// Looks at a disk for a job that has met a failure there. `then` is left out when the job is cancelled meanwhile.
    private func look<Found: Sendable>(
        _ job: Job, _ body: @escaping @Sendable () -> Found, then: @escaping @Coordination @Sendable (Found) -> Void
    ) {
        files.async { [self] in
            let found = body()
            Coordination.async { [self] in
                if job.ended { return }
                if job.cancelRequested || job.returning { return settleCancelling(job) }
                then(found)
            }
        }
    }

    /// A job has met something that is not there, or not permitted.
    func waitForMending(_ job: Job, _ failure: JobFailure) {
        if let filter = failure.filter {
            begin(Shortage(reason: "\(Resource.filter(filter)) is not loaded", need: .plugin), of: .filter(filter))
            return wait(job, for: .filter(filter))
        }
        let outbox = job.record.order.outbox
        look(job) { [staging] in
            staging.refusal(of: outbox)
        } then: { [self] refusal in
            if waitsForResource(job) { return }
            // The outbox itself is well: it is a matter of one folder in it, and of the jobs that go there.
            guard let refusal else { return retryLater(job, failure) }
            begin(
                Shortage(reason: "\(outbox) can't be written: \(refusal.reason)", need: .permission),
                of: .place(outbox))
            wait(job, for: .place(outbox))
        }
    }

    /// Whether a job failed because something that it needs is known not to be there, and waits for that.
    func waitsForResource(_ job: Job) -> Bool {
        let order = job.record.order
        if let known = shortages.keys.sorted().first(where: job.record.needs) {
            wait(job, for: known)
            return true
        }
        guard let gone = [order.inbox, order.outbox].first(where: { knownPlaces[$0]?.isGone == true }) else {
            return false
        }
        beginGone(gone)
        wait(job, for: .place(gone))
        return true
    }

    private func wait(_ job: Job, for resource: Resource) {
        wait(job, .place, shortages[resource]?.reason ?? "\(resource)")
    }

    func begin(_ shortage: Shortage, of resource: Resource) {
        shortages[resource] = shortage
        Log.failure(
            "\(shortage.reason): its work waits, and goes on when \(shortage.hope)",
            of: LogSubject(filter: resource.filter))
        setAside(resource)
        holdInboxes()
        if shortages.count == 1 { lookForRoomLater() }
    }

    func beginGone(_ place: String) {
        begin(Shortage(reason: "\(place) is not mounted any more", need: .mount), of: .place(place))
    }

    // MARK: - Waiting, and going on

    /// What has not begun waits as well, instead of being rendered in vain.
    func setAside(_ resource: Resource) {
        guard let reason = shortages[resource]?.reason else { return }
        // As in `cancelRows`: no row that is about to be changed is taken.
        fillHolds += 1
        ledger.setAside(resource, reason: reason, except: window.ids) { [self] count in
            Coordination.async { [self] in
                counts[.queued, default: 0] -= count
                counts[.waiting, default: 0] += count
                fillHolds -= 1
                fill()
            }
        }
        for job in window.all where job.record.state == .queued {
            guard job.record.needs(resource) else { continue }
            guard !job.cancelRequested, !job.returning else { continue }
            job.waits = reason
            job.cancelOperations()
            settleCancelling(job)
        }
    }

    private func lookForRoomLater() {
        Coordination.after(Self.retryInterval) { [self] in
            lookForRoom()
            if !shortages.isEmpty { lookForRoomLater() }
        }
    }

    func lookForRoom() {
        for (resource, shortage) in shortages {
            switch (resource, shortage.need) {
            case (.place(let place), _) where knownPlaces[place]?.isGone == true: break
            case (_, .mount): goOn(resource)
            case (.filter(let name), .plugin): lookForFilter(name)
            case (.place(let place), .room(let written, _)):
                lookForRoom(in: staging.folder(in: place), resource, written)
            case (.spool(let folder), .room(let written, _)):
                lookForRoom(in: folder, resource, written)
            case (.place(let place), .permission):
                look(for: resource) { self.staging.refusal(of: place) == nil }
            case (_, .answer), (_, .plugin), (_, .replacement), (.spool, _), (.filter, _): break
            }
        }
    }

    private func lookForRoom(in folder: String, _ resource: Resource, _ written: Int64) {
        let freeSpace = settings.freeSpace
        look(for: resource) {
            (try? DiskRoom.check(in: folder, written: written, freeSpace: freeSpace)) != nil
        }
    }

    private func look(for resource: Resource, _ isWell: @escaping @Sendable () -> Bool) {
        guard looking.insert(resource).inserted else { return }
        files.async { [self] in
            let isWell = isWell()
            Coordination.async { [self] in
                looking.remove(resource)
                if isWell { goOn(resource) }
            }
        }
    }

    func goOn(_ resource: Resource) {
        guard let shortage = shortages.removeValue(forKey: resource) else { return }
        switch shortage.need {
        case .room: Log.notice("there is room in \(resource) again")
        case .mount: Log.notice("\(resource) is mounted again")
        case .permission: Log.notice("\(resource) can be written again")
        case .plugin: Log.notice("\(resource) is there again")
        case .replacement: Log.notice("\(resource) was loaded anew")
        case .answer: Log.notice("\(resource) answers again")
        }
        bringBack(resource)
        holdInboxes()
    }

    /// What waits for it goes to the end of the queue.
    private func bringBack(_ resource: Resource) {
        let position = nextPosition
        nextPosition += counts[.waiting] ?? 0
        ledger.bringBack(resource, except: window.ids, at: position) { [self] count in
            Coordination.async { self.wentOn(count) }
        }
    }

    // MARK: - What is held

    /// The ledger has become unwritable, or can be written again.
    func ledgerChanged() {
        download.hold(ledger.problem != nil)
        render.hold(ledger.problem != nil)
        holdInboxes()
    }

    nonisolated private var ledgerReason: String? { ledger.problem.map { "the ledger can't be written: \($0)" } }

    /// Why no queued job begins in this queue, if so.
    nonisolated func heldReason(_ entry: Entry) -> String? {
        let report = queue(of: entry).report
        return report.paused ? report.pauseText : ledgerReason
    }

    /// Tells each inbox whether it may take files.
    func holdInboxes() {
        for inbox in inboxes {
            let order = current.order(for: inbox.recipe, places)
            let missing = shortages.keys.sorted().first { $0 != .place(order.inbox) && order.needs($0) }
            inbox.hold(ledgerReason ?? missing.flatMap { shortages[$0]?.reason })
        }
    }

    /// What keeps the daemon from its work, in words.
    var problems: [String] {
        var problems: [String] = []
        if let ledgerReason { problems.append("\(ledgerReason); nothing is taken until it can") }
        if let unreadReason { problems.append(unreadReason) }
        for (_, shortage) in shortages.sorted(by: { $0.key < $1.key }) {
            problems.append("\(shortage.reason); its work goes on when \(shortage.hope)")
        }
        problems += [stuckText(), hangText()].compactMap(\.self)
        if let first = reloadProblems.first {
            let more = reloadProblems.count > 1 ? " (and \(reloadProblems.count - 1) more)" : ""
            problems.append("the configuration is the one from before the reload: \(first)\(more)")
        }
        return problems + hooks.problems
    }
}
