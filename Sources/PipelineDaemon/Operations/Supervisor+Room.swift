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

    func begin(_ shortage: Shortage, in place: String) {
        shortages[place] = shortage
        Log.failure("\(shortage.reason): its work waits, and goes on when \(shortage.hope)")
        setAside(place, shortage.reason)
        holdInboxes()
        if shortages.count == 1 { lookForRoomLater() }
    }

    func beginGone(_ place: String) {
        begin(Shortage(reason: "\(place) is not mounted any more", need: .mount), in: place)
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

    func lookForRoom() {
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

    func goOn(_ place: String) {
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
            problems.append("job \(first.key): \(first.value.reason)\(more)")
        }
        return problems + hooks.problems
    }
}
