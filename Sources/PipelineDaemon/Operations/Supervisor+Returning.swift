import DaemonRuntime
import Dispatch
import Glibc
import InboxWatching
import PipelineControl
import PipelineModel
import Synchronization
import SystemCalls

/// Brings back jobs that failed or were cancelled. The originals of an inbox leave and come back on one serial queue. A
/// row says where its original goes before that is moved: nobody else touches the job meanwhile, and a start undoes
/// what a crash broke off.
extension Supervisor {
    /// A job that is wanted back, and its new order.
    struct Wanted: Sendable {
        var job: JobRecord
        var order: WorkOrder
    }

    /// The outcome for the jobs that were wanted back.
    struct Returned: Sendable {
        var brought: [JobRecord] = []
        /// Jobs that somebody else has brought back, or is bringing back.
        var others: [Int] = []
        var lost: [(job: Int, why: any Error)] = []
    }

    /// Moves the originals to where work begins, and queues the jobs; `done` when that is durable.
    func bringBack(_ wanted: [Wanted], done: @escaping @Coordination @Sendable (Returned) -> Void) {
        let result = Mutex(Returned())
        let group = DispatchGroup()
        for (inbox, some) in Dictionary(grouping: wanted, by: \.job.order.inbox) {
            group.enter()
            // After the moves under way: an original is brought back from where it has arrived.
            whenOpened(Set(some.map(\.order.inbox)), on: disposal(of: inbox)) { [self] in
                let returned = takeBack(some)
                result.withLock { result in
                    result.brought += returned.brought
                    result.others += returned.others
                    result.lost += returned.lost
                }
                group.leave()
            }
        }
        Coordination.notify(group) { [self] in
            var returned = result.withLock { $0 }
            returned.brought.sort { $0.id < $1.id }
            requeue(returned.brought) { [returned] in done(returned) }
        }
    }

    /// Undoes returns that a crash broke off: nobody was told that they happened.
    func endReturns() throws {
        for job in try ledger.returning() { unsettle(job) }
        for inbox in try Set(unsettled.withLock { $0.keys }).union(ledger.undisposedInboxes()) {
            // The inbox may have found the claimed original of an ended job: that is moved as well.
            whenOpened([inbox], on: disposal(of: inbox)) { [self] in disposeBacklogOrLater(of: inbox) }
        }
    }

    /// The order for another try of a job.
    func orderNow(_ record: JobRecord) throws(ControlError) -> WorkOrder {
        if record.order.adHoc { return record.order }
        guard let recipe = current.recipe(record.order.recipe) else {
            throw .noSuchRecipe(record.order.recipe, recipes: current.configuration.recipes.map(\.name))
        }
        return current.order(for: recipe, places)
    }

    /// Waits until these inboxes are open: at the start they take in claimed files that the ledger does not know.
    private func whenOpened(
        _ folders: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let opened = DispatchGroup()
        for inbox in inboxes where folders.contains(inbox.folder) {
            opened.enter()
            inbox.afterwards { opened.leave() }
        }
        opened.notify(queue: line, execute: body)
    }

    // MARK: - On the line of an inbox

    nonisolated private func takeBack(_ wanted: [Wanted]) -> Returned {
        var returned = Returned()
        // The reads below have to see the moves just made.
        _ = ledger.flush(seconds: 10)
        var places: [Int: String] = [:]
        var jobs: [(record: JobRecord, order: WorkOrder)] = []
        for one in wanted {
            do {
                guard let record = try ledger.job(one.job.id) else { throw ControlError.noSuchJob(one.job.id) }
                guard record.state == .failed || record.state == .cancelled, record.returns == nil else {
                    returned.others.append(record.id)
                    continue
                }
                guard try record.needsDownload || spot(record.source, of: record)?.status() != nil else {
                    throw SystemError("open", record.source, code: ENOENT)
                }
                // The next try follows another order.
                if let intent = record.intent { try publisher.takeBack(intent) }
                places[record.id] = try place(of: record, for: one.order, except: Set(places.values))
                jobs.append((record, one.order))
            } catch {
                returned.lost.append((one.job.id, error))
            }
        }
        let begun = ledger.begin(places.map { Ledger.Return(job: $0.key, place: $0.value) })
        for (record, order) in jobs {
            guard begun.contains(record.id), let place = places[record.id] else {
                returned.others.append(record.id)
                continue
            }
            take(record, order, from: record.source, to: place, &returned)
        }
        settle(&returned)
        for inbox in Set(wanted.map(\.job.order.inbox)) where unsettled.withLock({ $0[inbox] != nil }) {
            disposeBacklogOrLater(of: inbox)
        }
        return returned
    }

    /// Undoes the returns that have failed or were broken off. Returns the jobs whose original can't be found now.
    nonisolated func endReturns(in inbox: String) throws -> Set<Int> {
        let wanted = unsettled.withLock { $0[inbox] ?? [] }
        var left: Set<Int> = []
        for job in try ledger.jobs(wanted.sorted()) where job.returns != nil {
            do {
                try endReturn(of: job)
            } catch {
                stays(job, because: "its original, which was being brought back, can't be found: \(error)")
                left.insert(job.id)
            }
        }
        unsettled.withLock { $0[inbox] = left.isEmpty ? nil : left }
        return left
    }

    nonisolated private func endReturn(of job: JobRecord) throws {
        defer { Coordination.async { self.tellWaiters(of: [job.id]) } }
        guard !job.needsDownload, job.origin != .kept, let place = job.returns, place != job.source,
            try original(of: job, at: [place, job.source]) == place
        else { return ledger.abandonReturn(of: job.id) }
        Log.notice("job \(job.id) was being brought back; its original, at \(place), goes back", of: LogSubject(job))
        ledger.putRight(job.id, source: place)
    }

    /// The return has failed: `endReturns` finds out where the original lies.
    nonisolated private func unsettle(_ job: JobRecord) {
        unsettled.withLock { _ = $0[job.order.inbox, default: []].insert(job.id) }
    }

    /// Which of these places has the original: the same file, or an equal one when it was copied to another disk.
    nonisolated private func original(of record: JobRecord, at places: [String]) throws -> String? {
        let found = try places.compactMap { path in
            try spot(path, of: record)?.status().map { (path, $0.identity) }
        }
        let same = found.first { $0.1.inode == record.file.inode }
        return (same ?? found.first { ($0.1.size, $0.1.modified) == (record.file.size, record.file.modified) })?.0
    }

    /// Nil when the folder around it does not exist.
    nonisolated private func spot(_ path: String, of record: JobRecord) throws -> Spot? {
        guard record.origin == .claimed, FileSystem.lies(path, within: record.order.inbox) else { return Spot(path) }
        let folder = try claims.open(record.order.inbox)
        do {
            return try folder.spot(path)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }

    nonisolated private func take(
        _ record: JobRecord, _ order: WorkOrder, from: String, to: String, _ returned: inout Returned
    ) {
        var (record, place) = (record, to)
        do {
            // The next try may use their names.
            for file in record.staged.map(\.path) + (record.intent?.steps.map(\.staging) ?? []) {
                try FileSystem.remove(file)
            }
            if !record.needsDownload, from != place {
                guard let original = try spot(from, of: record) else { throw SystemError("open", from, code: ENOENT) }
                while try !move(original, of: record, order, to: place) {
                    place = try self.place(of: record, for: order, except: [place])
                    ledger.change(Ledger.Return(job: record.id, place: place))
                }
            }
            let old = record.needsDownload ? Disposal.absentPath(record, places) : record.source
            try? FileSystem.remove(Disposal.explanationPath(old))
            record.source = place
            // Another priority than the recipe's was somebody's wish.
            if record.priority == record.order.priority.rank { record.priority = order.priority.rank }
            record.order = order
            if !record.needsDownload, let there = try spot(place, of: record)?.status() { record.file = there.identity }
            returned.brought.append(record)
        } catch {
            lose(record, error, &returned)
        }
    }

    nonisolated private func move(_ original: Spot, of record: JobRecord, _ order: WorkOrder, to place: String) throws
        -> Bool
    {
        guard record.origin == .claimed else { return try Moving.move(original, to: place) }
        return try claims.open(order.inbox).take(original, to: place)
    }

    /// Makes the moves durable before they are recorded.
    nonisolated private func settle(_ returned: inout Returned) {
        var failed: [String: any Error] = [:]
        let moved = returned.brought.filter { $0.origin != .kept && !$0.needsDownload }
        for folder in Set(moved.map { FileSystem.folder(of: $0.source) }) {
            do {
                try FileSystem.sync(folder)
            } catch {
                failed[folder] = error
            }
        }
        let brought = returned.brought
        returned.brought = []
        for record in brought {
            if let error = failed[FileSystem.folder(of: record.source)] {
                lose(record, error, &returned)
            } else {
                returned.brought.append(record)
            }
        }
    }

    nonisolated private func lose(_ record: JobRecord, _ why: any Error, _ returned: inout Returned) {
        returned.lost.append((record.id, why))
        unsettle(record)
    }

    /// Whether a job of this order can begin with its original at this place.
    nonisolated private func fits(_ place: String, _ record: JobRecord, _ order: WorkOrder) -> Bool {
        switch record.origin {
        case .kept: true
        case .claimed: FileSystem.lies(place, within: FileSystem.join(order.inbox, ClaimFolder.name))
        case .spooled: FileSystem.lies(place, within: places.spool)
        }
    }

    /// A free place to begin from. An original that was never moved stays where it is.
    nonisolated private func place(of record: JobRecord, for order: WorkOrder, except taken: Set<String> = []) throws
        -> String
    {
        if record.needsDownload { return downloadPath() }
        if fits(record.source, record, order) { return record.source }
        let claims = record.origin == .claimed ? try claims.open(order.inbox) : nil
        for number in 0... {
            let spooled = Spool.place(bringingBack: record.id, as: FileSystem.name(of: record.path), in: places.spool)
            let place =
                claims?.place(number, of: record.path)
                ?? (number == 0 ? spooled : ResultName.numbered(spooled, number))
            if taken.contains(place) { continue }
            if try !knows(source: place) && (claims?.status(place) ?? FileSystem.status(place)) == nil {
                return place
            }
        }
        throw SystemError("rename", record.path, code: EEXIST)
    }

    private func requeue(_ records: [JobRecord], done: @escaping @Coordination @Sendable () -> Void) {
        let group = DispatchGroup()
        for var record in records {
            record.position = nextPosition
            nextPosition += 1
            counts[record.state, default: 0] -= 1
            counts[.queued, default: 0] += 1
            stuck.withLock { _ = $0.removeValue(forKey: record.id) }
            group.enter()
            ledger.requeue(record) { group.leave() }
        }
        Coordination.notify(group) { [self] in
            fill()
            done()
        }
    }
}
