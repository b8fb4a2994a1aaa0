import DaemonInterface
import DaemonRuntime
import Dispatch
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

extension ControlService {
    func addJobCalls() {
        onOwners(Call.List.self) { [self] call, request in
            try check(recipe: call.recipe)
            try check(batch: call.batch)
            request.connection.queue.async { [self] in
                do { try list(call, request) } catch { request.fail(error) }
            }
        }
        onOwners(Call.ListIDs.self) { [self] call, request in
            try check(recipe: call.recipe)
            try check(batch: call.batch)
            request.connection.queue.async { [self] in
                do {
                    let filter = try filter(call.states, call.recipe, call.batch, call.since, call.until)
                    let ranges = try answer { try daemon.ids(filter) }
                    request.reply(
                        Call.ListIDs.Reply(
                            ranges: ranges.map { Control.IDRange(first: $0.lowerBound, last: $0.upperBound) }))
                } catch {
                    request.fail(error)
                }
            }
        }
        onOwners(Call.Show.self) { [self] call, request in
            let record = try record(of: call.id)
            let current = daemon.progress(ofJob: call.id).map(Control.Progress.init)
            // Looking up the original may block on a hanging mount.
            request.work(on: FileLanes.looks(at: record.source)) { [self] in
                do {
                    var story = try story(of: record)
                    if let current, let index = story.operations.lastIndex(where: { $0.state == "executing" }) {
                        story.operations[index].progress = current
                    }
                    request.reply(Call.Show.Reply(story: story))
                } catch {
                    request.fail(error)
                }
            }
        }
        onOwners(Call.Log.self) { [self] call, request in
            let record = try record(of: call.id)
            request.connection.queue.async { [self] in
                do {
                    let events = try answer { try daemon.events(ofJob: call.id, limit: 1000) }
                    request.reply(Call.Log.Reply(events: events.map { Control.Event($0, record, nil) }))
                } catch {
                    request.fail(error)
                }
            }
        }
        onWriting(Call.Cancel.self) { [self] call, request in
            guard !call.ids.isEmpty else {
                throw ControlError.badValue("Cancel takes IDs; CancelAll cancels everything")
            }
            try check(call.ids)
            Log.notice(
                "cancel of \(Self.said(call.ids)) asked for by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids))
            var choice = JobChoice(ids: call.ids)
            choice.cause = "by \(request.connection.peer)"
            daemon.cancel(choice) { [self] _, _ in
                do {
                    request.reply(Call.Cancel.Reply(jobs: try records(of: call.ids).map(shown)))
                } catch {
                    request.fail(error)
                }
            }
        }
        onWriting(Call.Retry.self) { [self] call, request in
            guard !call.ids.isEmpty || !call.states.isEmpty || call.batch != nil else {
                throw ControlError.badValue("Retry takes IDs, states or a batch")
            }
            try check(call.ids)
            try check(batch: call.batch)
            let which =
                (call.ids.isEmpty ? [] : [Self.said(call.ids)]) + call.states.map { "all \($0) jobs" }
                + (call.batch.map { ["batch \($0)"] } ?? [])
            try retry(call) { result in
                switch result {
                case .success(let retried): request.reply(Call.Retry.Reply(retried: retried))
                case .failure(let error): request.fail(error)
                }
            }
            Log.notice(
                "retry of \(which.joined(separator: ", ")) asked for by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids, batch: call.batch))
        }
    }

    private static func said(_ ids: [Int]) -> String { ids.count == 1 ? "job \(ids[0])" : "\(ids.count) jobs" }

    // MARK: - List

    /// Maximum number of jobs in a single reply, and in each reply of a stream.
    private static let (longPage, page) = (500, 100)

    private func filter(
        _ states: [String], _ recipe: String?, _ batch: Int?, _ since: String?, _ until: String?
    ) throws(ControlError) -> JobFilter {
        var filter = JobFilter(
            recipe: recipe, batch: batch, since: try Self.time(since), until: try Self.time(until))
        for name in states {
            guard let state = JobState(rawValue: name) else {
                let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badValue("there is no state '\(name)'; the states are \(known)")
            }
            filter.states.append(state)
        }
        return filter
    }

    private func list(_ call: Call.List, _ request: ControlRequest) throws(ControlError) {
        var filter = try filter(call.states, call.recipe, call.batch, call.since, call.until)
        filter.before = call.before
        let limit = call.limit ?? Int.max
        guard limit > 0 else { throw .badValue("limit=\(limit) is not allowed; it begins at 1") }
        let chosen = filter
        let start = try answer { try call.limit.map { try daemon.start(ofNewest: $0, chosen) } ?? 0 }
        var last = start
        let page = request.more ? Self.page : Self.longPage
        let next = { @Sendable [self] (last: inout Int) throws(ControlError) -> (jobs: [Control.Job], isLast: Bool) in
            let rows = try answer { try daemon.list(chosen, after: last, limit: page + 1) }
            let some = rows.prefix(page)
            last = some.last?.id ?? last
            let jobs = some.map(shown).filter { call.states.isEmpty || call.states.contains($0.state) }
            return (jobs, rows.count <= page)
        }
        guard request.more else {
            let (jobs, isLast) = try next(&last)
            var older = chosen
            older.before = start + 1
            let oldest = try answer { try start > 0 ? daemon.list(older, after: 0, limit: 1) : [] }
            return request.reply(Call.List.Reply(jobs: jobs, isPart: !isLast || !oldest.isEmpty))
        }
        request.connection.follow(last) { last in
            do throws(ControlError) {
                let (jobs, isLast) = try next(&last)
                let frame = ControlRequest.frame(Call.List.Reply(jobs: jobs), continues: !isLast)
                return isLast ? .last(frame) : .frame(frame)
            } catch {
                return .last(ControlRequest.frame(error))
            }
        }
    }

    static func time(_ text: String?) throws(ControlError) -> Double? {
        guard let text else { return nil }
        if let time = Timestamp.seconds(text) { return time }
        throw .badValue(
            "'\(text.prefix(50))' is not a time; write how long ago, as 90s, 30min, 1h or 2d, or a time, as "
                + "2026-03-01, '2026-03-01 09:30' or 2026-03-01T09:30:00Z")
    }
}

@Coordination
extension ControlService {
    func record(of id: Int) throws(ControlError) -> JobRecord {
        guard let record = try answer({ try daemon.currentJob(id) }) else { throw .noSuchJob(id) }
        return record
    }

    /// Returns the records in the order of the IDs.
    func records(of ids: [Int]) throws(ControlError) -> [JobRecord] {
        try answer { try daemon.currentJobs(ids) }
    }

    func check(numberOf ids: [Int]) throws(ControlError) { try check(numberOf: ids.count, "IDs") }

    func check(numberOf count: Int, _ what: String) throws(ControlError) {
        guard count <= ControlInterface.mostIDs else {
            throw .badValue("a call takes at most \(ControlInterface.mostIDs) \(what); \(count) came")
        }
    }

    /// Throws if a job does not exist, or if the call names too many jobs. A call with very many jobs would delay other
    /// clients.
    func check(_ ids: [Int]) throws(ControlError) {
        try check(numberOf: ids)
        if let unknown = try answer({ try daemon.unknown(of: ids) }) { throw .noSuchJob(unknown) }
    }

    nonisolated func story(of record: JobRecord) throws(ControlError) -> Control.Story {
        let neighbours = try answer { try daemon.neighbours(of: record.id) }
        return Control.Story(
            job: shown(record),
            chains: record.order.chains, original: FileSystem.mayExist(record.source) ? record.source : nil,
            removed: record.removed?.text, tries: record.tries, started: record.started.map(Timestamp.text),
            header: record.story?.header, caption: record.texts?.caption, credit: record.texts?.credit,
            advice: record.state == .failed ? record.advice : nil, operations: operations(of: record),
            priority: Priority(rank: record.priority).rawValue, after: neighbours.after.shown,
            followers: neighbours.followers.shown)
    }

    /// Returns the started operations of every attempt, then the operations that the latest attempt has not started. If
    /// the job waits for its next attempt, all operations of the next attempt follow instead.
    nonisolated private func operations(of record: JobRecord) -> [Control.Operation] {
        let chapters = record.story?.chapters ?? []
        let last = chapters.last?.attempt ?? 1
        // When a redo begins, the job's previous attempt has published its results, or was cancelled.
        let isPublished = chapters.last.map { $0.queue == "publish" && $0.state == "finished" }
        let isOver = isPublished.map { $0 || chapters.last?.state == "cancelled" }
        let isBegunAnew = record.former != nil && isOver ?? true
        let isBetween =
            [.waiting, .queued].contains(record.state) && (chapters.last?.state == "failed" || isBegunAnew)
        let attempt = isBetween ? last + 1 : last
        // A published job that is now cancelled was undone: all its operations, including `announce`, had finished
        // before.
        let isWhole = record.state == .done ? record.redoEnd == nil : record.state == .cancelled && isPublished == true
        let unrecorded = isWhole ? "finished" : record.state.isFinal ? "cancelled" : "pending"
        func operation(_ planned: PlannedOperation, _ state: String) -> Control.Operation {
            Control.Operation(kind: planned.kind, queue: planned.queue, state: state, attempt: attempt)
        }
        var shown: [Control.Operation] = []
        var segment = 0
        for chapter in chapters {
            if let next = chapter.segment, next > segment {
                shown.append(operation(.announceBatch, "finished"))
                segment = next
            }
            shown.append(chapter.shown)
        }
        // An unfinished job will run its cancelled operations again, so these operations count as not started.
        let tried = chapters.filter {
            ($0.attempt ?? 1) == attempt && ($0.state != "cancelled" || record.state.isFinal)
        }
        let begun = Set(tried.map { "\($0.kind) \($0.segment ?? 0)" })
        var planned = 0
        for next in (record.url == nil ? [] : [.download]) + record.plan.operations {
            defer { if next == .announceBatch { planned += 1 } }
            if next == .announceBatch {
                // If a job waits at a barrier or was cancelled there, its recorded segment is already the segment after
                // the barrier.
                let isPast = planned < record.segment && record.waitReason != .barrier && !record.state.isFinal
                if planned >= segment { shown.append(operation(next, isPast ? "finished" : unrecorded)) }
            } else if next == .download, record.needsDownload, begun.contains("render 0") {
                // No download is shown here: the node that renders the picture also downloads it.
            } else if next == .download, !record.needsDownload {
                // A retry of the other operations does not repeat a finished download.
                if !chapters.contains(where: { $0.kind == next.kind }) {
                    shown.insert(operation(next, "finished"), at: 0)
                }
            } else if planned >= record.segment, !begun.contains("\(next.kind) \(planned)") {
                shown.append(operation(next, unrecorded))
            }
        }
        return shown
    }
}

extension JobStory.Chapter {
    fileprivate var shown: Control.Operation {
        Control.Operation(
            kind: kind, queue: queue, state: state, started: started.map(Timestamp.text),
            finished: finished.map(Timestamp.text), detail: detail, attempt: attempt ?? 1, worker: account?.worker,
            read: account?.read, written: account?.written, failure: failure?.rawValue)
    }
}

extension WorkOrder {
    /// The chains by output name; the key of the unnamed output is "".
    var chains: [String: String] {
        Dictionary(outputs.map { ($0.name ?? "", $0.chain.text) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Neighbours {
    var shown: Control.Neighbours {
        Control.Neighbours(jobs: jobs.map { Control.Neighbour(id: $0.id, state: $0.state?.rawValue) }, count: count)
    }
}
