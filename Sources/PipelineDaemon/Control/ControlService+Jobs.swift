import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import SystemCalls

extension ControlService {
    func addJobCalls() {
        on(Call.List.self) { [self] call, request in try list(call, request) }
        onSupervisor(Call.Show.self) { [supervisor] call, request in
            let record = try supervisor.record(of: call.id)
            // It looks for the original, where a mount may hang.
            supervisor.files.async { request.reply(Call.Show.Reply(story: supervisor.story(of: record))) }
        }
        onSupervisor(Call.NewBatch.self) { [supervisor] _, request in
            defer { supervisor.nextBatch += 1 }
            request.reply(Call.NewBatch.Reply(batch: supervisor.nextBatch))
        }
        on(Call.Add.self) { [self] call, request in try add(call, request) }
        onSupervisor(Call.Cancel.self) { [supervisor] call, request in
            for id in call.ids { _ = try supervisor.record(of: id) }
            Log.notice(
                "cancel of \(call.ids.count == 1 ? "job \(call.ids[0])" : "\(call.ids.count) jobs") asked for by \(request.connection.peer)"
            )
            supervisor.cancel(call.ids) {
                request.reply(
                    JobsReply(jobs: call.ids.compactMap { try? supervisor.record(of: $0) }.map(supervisor.shown)))
            }
        }
        onSupervisor(Call.CancelAll.self) { [supervisor] _, request in
            Log.notice("cancel of all jobs asked for by \(request.connection.peer)")
            supervisor.cancelAll { request.reply(Call.CancelAll.Reply(cancelled: $0)) }
        }
        onSupervisor(Call.Retry.self) { [supervisor] call, request in
            try supervisor.retry(call) { result in
                switch result {
                case .success(let retried): request.reply(Call.Retry.Reply(retried: retried))
                case .failure(let error): request.fail(error)
                }
            }
        }
    }

    // MARK: - List

    /// Jobs in one reply come in pages of this many.
    private static let page = 500

    private func list(_ call: Call.List, _ request: ControlRequest) throws(ControlError) {
        var filter = JobFilter(recipe: call.recipe, batch: call.batch)
        for name in call.states {
            guard let state = JobState(rawValue: name) else {
                let known = JobState.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badValue("there is no state '\(name)'; the states are \(known)")
            }
            filter.states.append(state)
        }
        // While none begins, what is recorded as queued is shown as waiting.
        let held = supervisor.heldReason != nil
        if held, filter.states.contains(.waiting) { filter.states.append(.queued) }
        if held, !call.states.isEmpty, !call.states.contains("waiting") { filter.states.removeAll { $0 == .queued } }
        if held, !call.states.isEmpty, filter.states.isEmpty { return request.reply(JobsReply(jobs: [])) }
        let limit = call.limit ?? Int.max
        guard limit > 0 else { throw .badValue("limit=\(limit) is not allowed; it begins at 1") }
        let supervisor = supervisor
        let chosen = filter
        var last = (try? call.limit.map { try supervisor.ledger.start(ofNewest: $0, chosen) } ?? 0) ?? 0
        let next = { () -> [Control.Job] in
            let rows = (try? supervisor.ledger.list(chosen, after: last, limit: Self.page)) ?? []
            last = rows.last?.id ?? last
            return rows.map(supervisor.shown)
        }
        guard request.more else { return request.reply(JobsReply(jobs: next())) }
        let connection = request.connection
        connection.follow {
            let jobs = next()
            let isLast = jobs.count < Self.page
            connection.enqueue(ControlRequest.frame(JobsReply(jobs: jobs), continues: !isLast) ?? [])
            if isLast { connection.unfollow() }
            return !isLast
        }
    }

    // MARK: - Add

    /// The caller's open file is copied before the answer, so that nothing is read that the caller can't read, and the caller's file stays.
    private func add(_ call: Call.Add, _ request: ControlRequest) throws(ControlError) {
        guard let file = request.descriptors.first, request.descriptors.count == 1 else {
            throw .badValue("Add takes one open file beside the call; \(request.descriptors.count) came")
        }
        let name = FileSystem.name(of: call.name)
        guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 255, !name.contains("\0") else {
            throw .badValue("'\(call.name)' can't be the name of a picture")
        }
        guard let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG else {
            throw .badValue("'\(name)' is no file that can be copied")
        }
        let supervisor = supervisor
        supervisor.queue.async {
            do throws(ControlError) {
                try supervisor.add(call, name: name, file: file) { result in
                    switch result {
                    case .success(let record):
                        request.reply(Call.Add.Reply(job: record.shown(state: record.state, reason: nil)))
                    case .failure(let error): request.fail(error)
                    }
                }
            } catch {
                request.fail(error)
            }
        }
    }
}

extension Supervisor {
    func record(of id: Int) throws(ControlError) -> JobRecord {
        if let job = window[id] { return job.record }
        guard let record = try? ledger.job(id) else { throw .noSuchJob(id) }
        return record
    }

    func story(of record: JobRecord) -> Control.Story {
        let planned = Planner.plan(outputs: record.order.outputs).operations
        let chapters = record.story?.chapters ?? []
        let operations = planned.map { operation in
            let chapter = chapters.first { $0.kind == operation.kind }
            let untold = record.state == .done ? "finished" : record.state.isFinal ? "cancelled" : "pending"
            return Control.Operation(
                kind: operation.kind, queue: operation.queue, state: chapter?.state ?? untold,
                started: chapter?.started.map(Timestamp.text), finished: chapter?.finished.map(Timestamp.text),
                detail: chapter?.detail)
        }
        return Control.Story(
            job: shown(record),
            chains: record.order.chains, original: FileSystem.exists(record.source) ? record.source : nil,
            tries: record.tries, started: record.started.map(Timestamp.text), header: record.story?.header,
            operations: operations)
    }

    func add(
        _ call: Call.Add, name: String, file: Descriptor,
        done: @escaping @Sendable (Result<JobRecord, ControlError>) -> Void
    ) throws(ControlError) {
        guard !stopping else { throw .refused("the daemon is stopping; try again when it is back") }
        let order = try order(recipe: call.recipe, chain: call.chain)
        let folder = "\(places.spool)/\(Spool.folder())"
        let target = FileSystem.join(folder, name)
        let batch = call.batch
        files.async { [self] in
            do {
                try FileSystem.makeFolders(folder)
                let copy = try Descriptor.open(target, O_RDWR | O_CREAT | O_EXCL)
                try FileSystem.copy(file, to: copy, called: target)
                try FileSystem.sync(folder)
                let status = FileStatus(try copy.status())
                queue.async { [self] in
                    let record = newRecord(
                        order: order, path: name, source: target, origin: .spooled, file: status.identity, batch: batch,
                        at: Timestamp.now())
                    if let batch { nextBatch = max(nextBatch, batch + 1) }
                    enter([record]) {
                        done(.success(record))
                    } refused: {
                        done(.failure(.refused("the ledger refuses '\(name)'; see the daemon's log")))
                    }
                }
            } catch {
                try? FileSystem.remove(target)
                done(.failure(.refused("'\(name)' can't be copied: \(error)")))
            }
        }
    }

    func order(recipe: String?, chain: String?) throws(ControlError) -> WorkOrder {
        if let chain {
            guard recipe == nil else { throw .badValue("either a recipe or a chain can be given, not both") }
            return current.order(for: try parse(chain), places)
        }
        let name = recipe ?? current.configuration.defaultRecipe.name
        guard let found = current.recipe(name) else {
            throw .noSuchRecipe(name, known: current.configuration.recipes.map(\.name))
        }
        return current.order(for: found, places)
    }

    func parse(_ chain: String) throws(ControlError) -> Chain {
        do throws(ChainProblem) {
            return try Chain(parsing: chain, catalog: current.catalog)
        } catch {
            throw .badChain(message: error.message, column: error.column)
        }
    }
}

extension WorkOrder {
    /// The chains by output name; the unnamed output is "".
    var chains: [String: String] {
        Dictionary(outputs.map { ($0.name ?? "", $0.chain.text) }, uniquingKeysWith: { first, _ in first })
    }
}
