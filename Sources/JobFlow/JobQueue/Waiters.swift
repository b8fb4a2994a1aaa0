package import DaemonInterface
package import DaemonRuntime
package import JobLedger
package import JobModel
package import PictureFiles
import ServiceProgram

/// A waiter, the jobs that it waits for, and the reports that it has received.
private struct Wait {
    enum Kind {
        /// Waits until certain jobs are over. The set contains the jobs that are not over yet.
        case these(Set<Int>)
        /// Waits until the daemon has no work left.
        case everything
        /// Waits until the batch has ended.
        case batch(Int)
        /// Waits until no operation works on certain jobs. The originals of these jobs may still have to be moved.
        case stopping(Set<Int>)
    }

    var kind: Kind
    let waiter: Waiter
    var reportedDelay: String?
    /// Jobs of the batch that were reported to the waiter.
    var reported: Set<Int> = []
    var batchHasEnded = false

    var batch: Int? { if case .batch(let batch) = kind { batch } else { nil } }
}

extension JobRecord {
    fileprivate var end: JobEnd { JobEnd(id: id, state: state) }
}

/// Reports to waiting clients which jobs are over.
@Coordination
package final class Waiters {
    private let ledger: Ledger
    private let jobs: JobQueue
    private let inboxes: Inboxes
    private let originals: OriginalMover
    private var waits: [Wait] = []
    /// Batches whose jobs are being read from the ledger. The value is true if another read must follow, because the
    /// batch has changed or a client has begun to wait since the read began.
    private var reading: [Int: Bool] = [:]

    package init(
        _ ledger: Ledger, _ jobs: JobQueue, _ inboxes: Inboxes, _ originals: OriginalMover
    ) {
        (self.ledger, self.jobs) = (ledger, jobs)
        (self.inboxes, self.originals) = (inboxes, originals)
    }

    /// Reports each of these jobs when it is over, and calls the waiter's `done` after the last job. Jobs that are
    /// already over are reported immediately.
    package func wait(for ids: [Int], _ waiter: Waiter) {
        var left = Set(ids)
        do {
            let over = try ledger.jobs(ids).filter { jobs[$0.id] == nil && $0.isOver }
            left.subtract(over.map(\.id))
            if !over.isEmpty { waiter.each(over.map(\.end)) }
        } catch {
            jobs.reads.missed(ended: ids)
        }
        waits.append(Wait(kind: .these(left), waiter: waiter))
        check()
    }

    /// Reports each job of a batch when it is over, including jobs that are already over. Calls the waiter's `done`
    /// when the batch has ended.
    package func wait(forBatch batch: Int, _ waiter: Waiter) {
        waits.append(Wait(kind: .batch(batch), waiter: waiter))
        lookUp(batch: batch)
        check()
    }

    /// Looks up a batch whose end was announced, and re-evaluates all waiters.
    package func changed(batch: Int) {
        lookUp(batch: batch)
        check()
    }

    /// Reads from the ledger whether a batch has ended, and which of its jobs are over but not yet reported. These jobs
    /// ended before the client began to wait, or were changed in bulk. Runs the read on another queue, because the
    /// batch may have many jobs. Reads no jobs if each waiter of the batch has already received a report for every
    /// ended job.
    private func lookUp(batch: Int) {
        guard reading.updateValue(reading[batch] != nil, forKey: batch) == nil else { return }
        let reported = waits.filter { $0.batch == batch }.map(\.reported.count).min()
        guard let reported else { return reading[batch] = nil }
        FileLanes.ledger.async { [self, ledger] in
            let hasEnded = Result {
                let record = try ledger.batches([batch])[batch]
                var last = 0
                while record.map({ $0.ended > reported }) ?? false,
                    case let over = try ledger.over(inBatch: batch, after: last, limit: Self.page), let end = over.last
                {
                    last = end.id
                    Coordination.async { [self] in tell(over.filter { jobs[$0.id] == nil }, of: batch) }
                }
                return record?.hasEnded ?? true
            }
            Coordination.async { [self] in read(batch, hasEnded) }
        }
    }

    nonisolated private static let page = 5000

    private func read(_ batch: Int, _ hasEnded: Result<Bool, any Error>) {
        let isOutdated = reading.removeValue(forKey: batch) == true
        switch hasEnded {
        case .success(let hasEnded):
            // The batch has changed or a client has begun to wait during the read, so some reports may be missing.
            if isOutdated { return lookUp(batch: batch) }
            for index in waits.indices where waits[index].batch == batch { waits[index].batchHasEnded = hasEnded }
            check()
        case .failure: jobs.reads.later()
        }
    }

    private func tell(_ over: [JobEnd], of batch: Int) {
        for index in waits.indices where waits[index].batch == batch {
            let new = over.filter { waits[index].reported.insert($0.id).inserted }
            if !new.isEmpty { waits[index].waiter.each(new) }
        }
    }

    /// Reports every job that ends, and calls the waiter's `done` once no file is settling, no job waits or runs, and
    /// no original is being moved.
    package func waitForAll(_ waiter: Waiter) {
        inboxes.catchUp { [self] _, _ in
            waits.append(Wait(kind: .everything, waiter: waiter))
            check()
        }
    }

    /// Calls `done` when no operation works on these jobs any more, and their final states are recorded.
    func waitUntilStopped(_ ids: some Sequence<Int>, _ done: @escaping @Sendable () -> Void) {
        let present = Set(ids.filter { jobs[$0] != nil })
        guard !present.isEmpty else { return done() }
        waits.append(Wait(kind: .stopping(present), waiter: Waiter(each: { _ in }, done: done)))
    }

    /// Reports jobs that are over: they have ended, and their originals are in place.
    package func ended(_ records: [JobRecord]) {
        tellDelays()
        tell(records)
        check()
    }

    private func tell(_ records: [JobRecord]) {
        for (batch, members) in Dictionary(grouping: records, by: \.batch) {
            if let batch { tell(members.map(\.end), of: batch) }
        }
        let over = records.map(\.end)
        for index in waits.indices {
            switch waits[index].kind {
            case .everything: waits[index].waiter.each(over)
            case .these(var left):
                let ended = over.filter { left.contains($0.id) }
                guard !ended.isEmpty else { continue }
                left.subtract(ended.map(\.id))
                waits[index].kind = .these(left)
                waits[index].waiter.each(ended)
            case .batch, .stopping: break
            }
        }
    }

    /// Notes that no operation works on the job any more, and that its final state is recorded.
    package func stopped(_ id: Int) {
        for index in waits.indices {
            guard case .stopping(var left) = waits[index].kind, left.remove(id) != nil else { continue }
            waits[index].kind = .stopping(left)
        }
        check()
    }

    /// Looks up all jobs that clients wait for, after rows were changed in bulk.
    func lookUp() {
        var ids: Set<Int> = []
        for case .these(let left) in waits.map(\.kind) { ids.formUnion(left) }
        for batch in Set(waits.compactMap(\.batch)) { lookUp(batch: batch) }
        lookUp(ids)
    }

    /// Reports which of these jobs are over.
    func lookUp(_ ids: Set<Int>) {
        let rows = ids.filter { jobs[$0] == nil }
        do {
            ended(try ledger.jobs(rows.sorted()).filter(\.isOver))
        } catch {
            jobs.reads.missed(ended: rows)
        }
    }

    /// Re-evaluates all waiters.
    package func check() {
        waits.removeAll { !$0.waiter.isWanted() }
        guard !waits.isEmpty else { return }
        let isIdle = jobs.isRecorded && !jobs.counts.isBusy && inboxes.areIdle
        var over: [Wait] = []
        waits.removeAll { wait in
            let isOver =
                switch wait.kind {
                case .these(let left), .stopping(let left): left.isEmpty
                case .everything: isIdle && originalsRest
                case .batch: wait.batchHasEnded
                }
            if isOver { over.append(wait) }
            return isOver
        }
        for wait in over { wait.waiter.done() }
        tellDelays()
    }

    private var originalsRest: Bool {
        do {
            return try !ledger.movesOriginals()
        } catch {
            jobs.reads.later()
            return false
        }
    }

    /// Returns the reasons that delay the originals of these jobs, or of all jobs if `ids` is nil.
    private func delay(_ ids: Set<Int>?) -> String? {
        let reasons = originals.delays(among: ids)
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    private var delayOfAll: String? {
        let reasons = [delay(nil)].compactMap(\.self) + inboxes.delays
        return reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    }

    private func tellDelays() {
        for (index, wait) in waits.enumerated() {
            let reason =
                switch wait.kind {
                case .these(let left): delay(left)
                case .everything: delayOfAll
                case .batch, .stopping: delay(nil)
                }
            guard reason != wait.reportedDelay else { continue }
            waits[index].reportedDelay = reason
            wait.waiter.delayed(reason)
        }
    }
}
