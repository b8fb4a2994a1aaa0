import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram

/// Calls that process done jobs again, or undo them.
extension ControlService {
    func addDoneCalls() {
        on(Call.Redo.self) { [self] call, request in
            guard let path = call.path, path.hasPrefix("/"), !path.contains("\0") else { return redo(call, request) }
            request.work(on: FileLanes.looks(at: path)) { [self] in
                var call = call
                // The path may lead into the archive through a link, so convert it to the path in the ledger.
                call.path = daemon.archivePath(path)
                redo(call, request)
            }
        }
        on(Call.Undo.self) { [self] call, request in
            unlessAsking(call.check, request) { [self] in try undo(call, request) }
        }
    }

    /// If `isAsking` is true, runs `body` immediately, because the call changes nothing. Otherwise, runs `body` only if
    /// the ledger is writable.
    private func unlessAsking(
        _ isAsking: Bool?, _ request: ControlRequest, _ body: @escaping @Coordination @Sendable () throws -> Void
    ) {
        guard isAsking == true else { return whenWritable(request, body) }
        Coordination.async {
            do { try body() } catch { request.fail(error) }
        }
    }

    @Coordination
    private func undo(_ call: Call.Undo, _ request: ControlRequest) throws(ControlError) {
        let choice = try choice(of: call)
        let isAsking = call.check ?? false
        daemon.checkGoal(call.to) { [self] goal, refusal in
            if let refusal { return request.fail(ControlError.badValue(refusal)) }
            if !isAsking { log("undo", call.ids, call.batch, call.recipe, by: request.connection.peer) }
            daemon.undo(choice, to: goal, asking: isAsking) { outcome in
                if let error = outcome.unread { return request.fail(ControlError.unread(error)) }
                request.reply(
                    Call.Undo.Reply(
                        jobs: outcome.ids, refused: outcome.refused.shown, remarks: outcome.remarks.shown))
            }
        }
    }

    private func redo(_ call: Call.Redo, _ request: ControlRequest) {
        unlessAsking(call.check, request) { [self] in
            let choice = try choice(of: call)
            if call.check != true { log("redo", call.ids, call.batch, call.recipe, by: request.connection.peer) }
            daemon.redo(choice, asking: call.check ?? false) { [self] outcome in
                if let error = outcome.unread { return request.fail(ControlError.unread(error)) }
                answer(call, outcome, request)
            }
        }
    }

    private func log(_ what: String, _ ids: [Int], _ batch: Int?, _ recipe: String?, by peer: String) {
        let parts = [
            ids.isEmpty ? nil : ids.count == 1 ? "job \(ids[0])" : "\(ids.count) jobs", batch.map { "batch \($0)" },
            recipe.map { "'\($0)'" },
        ]
        let which = parts.compactMap(\.self).joined(separator: " of ")
        Log.notice(
            "\(what)\(which.isEmpty ? "" : " of \(which)") asked for by \(peer)",
            of: LogSubject(jobs: ids, batch: batch, recipe: recipe))
    }

    /// Replies with the outcome, and with the number of files at the path that belong to no job. Counts these files on
    /// a file lane, because the disk may block.
    private func answer(_ call: Call.Redo, _ outcome: DoneOutcome, _ request: ControlRequest) {
        let reply = Call.Redo.Reply(
            jobs: outcome.ids, refused: outcome.refused.shown, remarks: outcome.remarks.shown, unknown: 0)
        guard let path = call.path else { return request.reply(reply) }
        request.work(on: FileLanes.copies(of: path)) { [daemon] in
            do {
                var reply = reply
                reply.unknown = try daemon.unknownOriginals(at: path)
                request.reply(reply)
            } catch {
                request.fail(ControlError.refused("\(error)"))
            }
        }
    }
}

@Coordination
extension ControlService {
    private func choice(of call: Call.Redo) throws(ControlError) -> DoneChoice {
        let isFiltering = call.batch != nil || call.recipe != nil || call.since != nil || call.path != nil
        guard [!call.ids.isEmpty, isFiltering, call.all == true].count(where: \.self) == 1 else {
            throw .badValue("Redo takes IDs, or a batch, a recipe, a time or a path, or all")
        }
        if let path = call.path {
            guard path.hasPrefix("/"), !path.contains("\0") else {
                throw .badValue("'\(path.prefix(200))' is not an absolute path")
            }
        }
        return try choice(call.ids, call.batch, call.recipe, call.since, call.path)
    }

    private func choice(of call: Call.Undo) throws(ControlError) -> DoneChoice {
        guard call.ids.isEmpty != (call.batch == nil && call.recipe == nil && call.since == nil) else {
            throw .badValue("Undo takes IDs, or a batch, a recipe or a time")
        }
        return try choice(call.ids, call.batch, call.recipe, call.since, nil)
    }

    private func choice(
        _ ids: [Int], _ batch: Int?, _ recipe: String?, _ since: String?, _ place: String?
    ) throws(ControlError) -> DoneChoice {
        guard !daemon.isStopping else { throw .refused("the daemon is stopping; try again when it is back") }
        try check(ids)
        try check(batch: batch)
        try check(recipe: recipe)
        if !ids.isEmpty { return .these(Set(ids).sorted()) }
        return .all(
            JobFilter(states: [.done], recipe: recipe, batch: batch, since: try Self.time(since), place: place))
    }
}

extension Tally {
    fileprivate var shown: [Control.Tally] {
        sorted.map { Control.Tally(reason: $0.reason, jobs: $0.jobs, first: $0.first) }
    }
}
