import InboxWatching
import PipelineModel
import Synchronization

/// Somebody who waits for jobs to end.
struct Waiter {
    enum Kind {
        /// These, of which the set holds those that have not ended.
        case these(Set<Int>)
        /// Whatever there is, until nothing is left to do.
        case everything
        /// These, until none of them is in work; their originals may still be on their way.
        case stopping(Set<Int>)
    }

    var kind = Kind.everything
    var each: @Sendable (JobRecord) -> Void
    var done: @Sendable () -> Void
    /// Called with what holds up the remaining jobs, and with nil when nothing does.
    var heldUp: @Sendable (String?) -> Void = { _ in }
    var toldHeldUp: String?
    /// False once nobody is there any more to be told.
    var isWanted: @Sendable () -> Bool = { true }
}

extension Supervisor {
    /// Reports each job as it is over, and calls `done` after the last. Jobs that are over already are reported at
    /// once.
    func wait(for ids: [Int], _ waiter: Waiter) {
        var (left, waiter) = (Set(ids), waiter)
        do {
            for record in try ledger.jobs(ids) where window[record.id] == nil && record.isOver {
                left.remove(record.id)
                waiter.each(record)
            }
        } catch {
            unasked.ended.formUnion(ids)
            readLater()
        }
        waiter.kind = .these(left)
        waiters.append(waiter)
        checkWaiters()
    }

    /// Reports every job that ends, until nothing settles, waits or runs, and no original is on its way.
    func waitForAll(_ waiter: Waiter) {
        catchUp(cancelling: false, inboxes) { [self] in
            waiters.append(waiter)
            checkWaiters()
        }
    }

    /// Jobs are over: they have ended, and their originals lie where they belong.
    func ended(_ records: [JobRecord]) {
        tellHoldUps()
        for index in waiters.indices {
            for record in records {
                switch waiters[index].kind {
                case .everything: waiters[index].each(record)
                case .these(var left):
                    guard left.remove(record.id) != nil else { continue }
                    waiters[index].kind = .these(left)
                    waiters[index].each(record)
                case .stopping: break
                }
            }
        }
        checkWaiters()
    }

    /// Nothing works on the job any more, and its end is recorded.
    func stopped(_ id: Int) {
        for index in waiters.indices {
            guard case .stopping(var left) = waiters[index].kind, left.remove(id) != nil else { continue }
            waiters[index].kind = .stopping(left)
        }
        checkWaiters()
    }

    /// Rows were cancelled in bulk: those that are waited for are looked up.
    func tellWaitersOfRows() {
        var ids: Set<Int> = []
        for case .these(let left) in waiters.map(\.kind) { ids.formUnion(left) }
        tellWaiters(of: ids)
    }

    func checkWaiters() {
        waiters.removeAll { !$0.isWanted() }
        guard !waiters.isEmpty else { return }
        let busy = !ending.isEmpty || [.waiting, .queued, .running, .cancelling].contains { (counts[$0] ?? 0) > 0 }
        let idle =
            !busy && inboxes.allSatisfy { $0.report.settling == 0 && ($0.report.scanned || $0.report.problem != nil) }
        var over: [Waiter] = []
        waiters.removeAll { waiter in
            let isOver =
                switch waiter.kind {
                case .these(let left), .stopping(let left): left.isEmpty
                case .everything: idle && originalsRest
                }
            if isOver { over.append(waiter) }
            return isOver
        }
        for waiter in over { waiter.done() }
        tellHoldUps()
    }

    private var originalsRest: Bool {
        do {
            return try !ledger.movesOriginals()
        } catch {
            readLater()
            return false
        }
    }

    private func tellHoldUps() {
        for (index, waiter) in waiters.enumerated() {
            let holdUp = holdUp(of: waiter.kind)
            guard holdUp != waiter.toldHeldUp else { continue }
            waiters[index].toldHeldUp = holdUp
            waiter.heldUp(holdUp)
        }
    }

    /// What holds up the originals of the awaited jobs. `WhyWaiting` tells what rows wait for.
    private func holdUp(of kind: Waiter.Kind) -> String? {
        var ids: Set<Int>?
        if case .these(let left) = kind { ids = left }
        let reasons = [stuckText(among: ids), hangText(among: ids)].compactMap(\.self)
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }
}
