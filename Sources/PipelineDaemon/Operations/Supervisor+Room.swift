import Dispatch
import PipelineModel
import Synchronization
import SystemCalls

/// A full disk is nobody's fault: what met it waits, and goes on by itself when there is room. Of the recipes with that outbox nothing is
/// taken meanwhile; the others go on.
///
/// It is the same when the ledger can't be written, only that then nothing goes on: what is not recorded must not be begun.
extension Supervisor {
    /// An outbox that was full when a job needed it.
    struct Shortage {
        var reason: String
        /// What must be free before work goes on.
        var needed: Int64
    }

    /// A job has met a full outbox.
    func waitForRoom(_ job: Job, _ failure: JobFailure) {
        let outbox = job.record.order.outbox
        let reason = "no space in \(outbox)"
        job.waits = reason
        settleWaiting(job)
        let needed = max(settings.freeSpace, 2 * failure.written)
        if let known = shortages[outbox] {
            shortages[outbox]?.needed = max(needed, known.needed)
            return
        }
        shortages[outbox] = Shortage(reason: reason, needed: needed)
        Log.failure(
            "\(reason) (\(failure.message)): its work waits, and goes on when \(needed >> 10) KB are free there")
        setAside(outbox, reason)
        holdInboxes()
        if shortages.count == 1 { lookForRoomLater() }
    }

    /// What has not begun waits as well, instead of being rendered in vain.
    private func setAside(_ outbox: String, _ reason: String) {
        // As in `cancelRows`: no row that is about to be changed is taken.
        fillHolds += 1
        ledger.setAside(outbox: outbox, reason: reason, except: Array(window.keys)) { [self] count in
            queue.async { [self] in
                counts[.queued, default: 0] -= count
                counts[.waiting, default: 0] += count
                fillHolds -= 1
                fill()
            }
        }
        for job in window.values where job.record.state == .queued && job.record.order.outbox == outbox {
            guard !job.cancelRequested, !job.returning else { continue }
            job.waits = reason
            job.cancelOperations()
            settleCancelling(job)
        }
    }

    private func lookForRoomLater() {
        queue.asyncAfter(deadline: .now() + Self.retryInterval) { [self] in
            let wanted = shortages
            files.async { [self] in
                var found: [String] = []
                for (outbox, shortage) in wanted where (try? staging.checkRoom(for: shortage.needed, in: outbox)) != nil
                {
                    found.append(outbox)
                }
                let roomy = found
                queue.async { [self] in
                    for outbox in roomy { goOn(outbox) }
                    if !shortages.isEmpty { lookForRoomLater() }
                }
            }
        }
    }

    private func goOn(_ outbox: String) {
        guard shortages.removeValue(forKey: outbox) != nil else { return }
        Log.notice("there is room in \(outbox) again")
        bringBack(outbox)
        holdInboxes()
    }

    /// What waits for an outbox goes to the end of the queue.
    private func bringBack(_ outbox: String) {
        let most = counts[.waiting] ?? 0
        let position = nextPosition
        nextPosition += most
        ledger.bringBack(outbox: outbox, except: Array(window.keys), at: position) { [self] count in
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
            problems.append("\(shortage.reason); its work goes on when \(shortage.needed >> 10) KB are free there")
        }
        let stays = stuck.withLock { $0 }
        if let first = stays.min(by: { $0.key < $1.key }) {
            let more = stays.count > 1 ? " (and \(stays.count - 1) more)" : ""
            problems.append("job \(first.key): \(first.value)\(more)")
        }
        return problems
    }
}
