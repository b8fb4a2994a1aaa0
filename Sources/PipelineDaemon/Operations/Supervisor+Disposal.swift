import DaemonRuntime
import Dispatch
import Glibc
import InboxWatching
import PipelineModel
import Synchronization
import SystemCalls

/// An original that stays where it is, and why.
struct StuckOriginal: Sendable {
    var inbox: String
    var reason: String
}

/// An original that is being moved.
struct Move: Sendable {
    var job: JobRecord
    var since: DispatchTime
}

/// The originals of an inbox are moved one after the other, behind everything else. One that can't be moved stays, says so, and is
/// tried again.
extension Supervisor {
    nonisolated func disposal(of inbox: String) -> DispatchQueue {
        disposals.withLock { queues in
            if let queue = queues[inbox] { return queue }
            let queue = DispatchQueue(label: "pipelined.disposal")
            queues[inbox] = queue
            return queue
        }
    }

    /// `done` when all that is to be moved by now has been.
    nonisolated func whenDisposed(_ done: @escaping @Sendable () -> Void) {
        let group = DispatchGroup()
        for line in disposals.withLock({ Array($0.values) }) { line.async(group: group) {} }
        group.notify(queue: files, execute: done)
    }

    /// Moves the original of an ended job, in the background, together with others that end at about the same time.
    func dispose(_ record: JobRecord) {
        let inbox = record.order.inbox
        let isFirst = leaving.withLock { leaving in
            leaving[inbox, default: []].append(record)
            return leaving[inbox]?.count == 1
        }
        guard isFirst else { return }
        disposal(of: inbox).async { [self] in
            usleep(Self.gathering)
            let gathered = leaving.withLock { $0.removeValue(forKey: inbox) } ?? []
            do {
                // The backlog may have come first; and what has been brought back since is not to be moved.
                let left = try ledger.undisposed(gathered.map(\.id))
                disposeOnce(gathered.filter { left[$0.id] == $0.finished })
            } catch {
                for record in gathered { stays(record, error) }
            }
        }
    }

    /// How long it is waited for others.
    nonisolated private static let gathering: UInt32 = 20_000  // microseconds

    /// Ended jobs whose originals have not been moved: after a crash, after a cancel of many, and when moving has failed.
    func disposeBacklog() {
        watchForHangs()
        do {
            for inbox in try Set(unsettled.withLock { $0.keys }).union(ledger.undisposedInboxes()) {
                disposal(of: inbox).async { [self] in disposeBacklogOrLater(of: inbox) }
            }
        } catch {
            moveLater()
        }
    }

    nonisolated func disposeBacklogOrLater(of inbox: String) {
        do { try disposeBacklog(of: inbox) } catch { Coordination.async { self.moveLater() } }
    }

    nonisolated private func disposeBacklog(of inbox: String) throws {
        var last = 0
        var left = try endReturns(in: inbox)
        while case let jobs = try ledger.undisposed(of: inbox, after: last, limit: 200), let end = jobs.last {
            // What is left is moved at the next start.
            if timeIsUp.withLock({ $0 }) { return }
            left.formUnion(disposeOnce(jobs))
            last = end.id
        }
        // The others have been brought back by `pipectl retry`.
        stuck.withLock { stuck in stuck = stuck.filter { $0.value.inbox != inbox || left.contains($0.key) } }
    }

    /// On the disposal's queue. Once: a second move would meet another file of the same name. Returns those that stay where they are.
    @discardableResult
    nonisolated private func disposeOnce(_ records: [JobRecord]) -> [Int] {
        // All records belong to one inbox.
        let inbox = records.first?.order.inbox ?? ""
        defer { moving.withLock { $0[inbox] = nil } }
        let disposal = Disposal(places: places, claims: Result { try claims.open(inbox) })
        var gone: [(job: JobRecord, source: String)] = []
        var left: [Int] = []
        func stay(_ record: JobRecord, _ error: any Error) {
            moved.withLock { _ = $0.remove(record.id) }
            stays(record, error)
            left.append(record.id)
        }
        for record in records where moved.withLock({ $0.insert(record.id).inserted }) {
            moving.withLock { $0[record.order.inbox] = Move(job: record, since: .now()) }
            do {
                // Made before a barrier, and of use to nobody any more.
                for file in record.staged { try FileSystem.remove(file.path) }
                // A job that is not done has no published results.
                if let intent = record.intent { try publisher.takeBack(intent) }
                let source = try disposal.dispose(record)
                if source == nil {
                    Log.failure(
                        "job \(record.id): its original is gone: it is not at \(record.source) any more",
                        of: LogSubject(record))
                }
                gone.append((record, source ?? record.source))
            } catch {
                stay(record, error)
            }
        }
        let failures = disposal.settle(gone)
        gone.removeAll { record, source in
            guard let error = failures[FileSystem.folder(of: source)] else { return false }
            stay(record, error)
            return true
        }
        guard !gone.isEmpty else { return left }
        let over = gone.map(\.job)
        ledger.recordDisposal(of: gone.map { ($0.job.id, $0.source) }) { [self] in
            let litter = over.flatMap { $0.intent?.steps ?? [] }
            if !litter.isEmpty { files.async { for step in litter { Litter.remove(step.staging) } } }
            moved.withLock { $0.subtract(over.map(\.id)) }
            Coordination.async { self.ended(over) }
        }
        for (record, source) in gone where stuck.withLock({ $0.removeValue(forKey: record.id) }) != nil {
            tell(record, "its original could be moved now, to \(source)")
        }
        return left
    }

    /// How long to wait before something that a disk refused is tried again.
    nonisolated static let retryInterval = Duration.seconds(2)

    nonisolated private func stays(_ record: JobRecord, _ error: any Error) {
        stays(record, because: "its original stays at \(record.source): \(error)")
    }

    nonisolated func stays(_ record: JobRecord, because: String) {
        let reason = "\(because); this is tried again"
        let (known, isFirst) = stuck.withLock { stuck in
            defer { stuck[record.id] = StuckOriginal(inbox: record.order.inbox, reason: reason) }
            return (stuck[record.id]?.reason, stuck.isEmpty)
        }
        if known != reason {
            Log.failure("job \(record.id): \(reason)", of: LogSubject(record))
            tell(record, reason)
        }
        if isFirst { disposeLater() }
        Coordination.async { self.checkWaiters() }
    }

    /// Says which original can't be moved, among these jobs or all.
    func stuckText(among ids: Set<Int>? = nil) -> String? {
        let stays = stuck.withLock { $0 }.filter { ids?.contains($0.key) != false }
        guard let first = stays.min(by: { $0.key < $1.key }) else { return nil }
        return "job \(first.key): \(first.value.reason)\(stays.count > 1 ? " (and \(stays.count - 1) more)" : "")"
    }

    /// Says which original's disk does not answer.
    func hangText(among ids: Set<Int>? = nil) -> String? {
        let moves = moving.withLock { $0.values.map(\.job) }
        hanging = hanging.filter { job, _ in moves.contains { $0.id == job } }
        // Jobs behind it in the same inbox wait as well.
        let first = moves.filter { hanging[$0.id] != nil && (ids == nil || waitsBehind($0, ids ?? [])) }
            .min { $0.id < $1.id }
        return first.flatMap { job in hanging[job.id].map { "job \(job.id): \($0)" } }
    }

    private func waitsBehind(_ job: JobRecord, _ ids: Set<Int>) -> Bool {
        if ids.contains(job.id) { return true }
        return ((try? records(of: Array(ids.sorted().prefix(50)))) ?? []).contains {
            $0.state.isFinal && $0.order.inbox == job.order.inbox
        }
    }

    /// Reports, once, each original whose move began before `latest`.
    func lookForHangingMoves(since latest: DispatchTime) {
        for move in moving.withLock({ Array($0.values) }) where move.since < latest && hanging[move.job.id] == nil {
            let (job, source) = (move.job, move.job.source)
            let target = Disposal.goal(of: job, places)
            let reason = "its original is being moved from \(source) to \(target), and the disk does not answer"
            hanging[job.id] = reason
            Log.failure("job \(job.id): \(reason)", of: LogSubject(job))
            tell(job, reason)
            checkWaiters()
        }
    }

    nonisolated private func disposeLater() {
        Coordination.after(Self.retryInterval) { [self] in
            guard !stuck.withLock({ $0.isEmpty }) else { return }
            disposeBacklog()
            disposeLater()
        }
    }

    nonisolated private func tell(_ record: JobRecord, _ text: String) {
        ledger.append(.job(record.id, record.state, text))
    }
}
