import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram

/// Calls that cancel or prioritise many jobs together.
extension ControlService {
    func addChoiceCalls() {
        onWriting(Call.CancelMatching.self) { [self] call, request in
            var choice = try choice(of: call)
            choice.cause = "by \(request.connection.peer)"
            Log.notice(
                "cancel of \(Self.said(call)) asked for by \(request.connection.peer)",
                of: LogSubject(batch: call.batch, recipe: call.recipe))
            daemon.cancel(choice) { cancelled, left in
                if let left { return request.fail(ControlError.refused(left)) }
                request.reply(Call.CancelMatching.Reply(cancelled: cancelled))
            }
        }
        onWriting(Call.Prioritise.self) { [self] call, request in
            let (choice, priority) = try choice(of: call)
            Log.notice(
                "priority \(priority.rawValue) given by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids, batch: call.batch))
            daemon.prioritise(choice, priority) { request.reply(Call.Prioritise.Reply(changed: $0)) }
        }
    }

    private static func said(_ call: Call.CancelMatching) -> String {
        let states = call.states.isEmpty ? "all" : "jobs that are \(call.states.joined(separator: " or "))"
        return states + (call.batch.map { " of batch \($0)" } ?? "") + (call.recipe.map { " of '\($0)'" } ?? "")
    }
}

@Coordination
extension ControlService {
    func choice(of call: Call.CancelMatching) throws(ControlError) -> JobChoice {
        guard call.batch != nil || call.recipe != nil || !call.states.isEmpty else {
            throw .badValue("CancelMatching takes a batch, a recipe or states; CancelAll cancels everything")
        }
        try check(batch: call.batch)
        try check(recipe: call.recipe)
        var states: [JobState] = []
        for name in call.states {
            guard let state = JobState(rawValue: name), !state.isFinal else {
                let known = JobState.allCases.filter { !$0.isFinal }.map(\.rawValue).joined(separator: ", ")
                throw .badValue("'\(name.prefix(50))' can't be cancelled; these can: \(known)")
            }
            states.append(state)
        }
        return JobChoice(batch: call.batch, recipe: call.recipe, states: states.isEmpty ? nil : states)
    }

    func choice(of call: Call.Prioritise) throws(ControlError) -> (JobChoice, Priority) {
        let priority = try priority(named: call.priority)
        guard call.ids.isEmpty != (call.batch == nil) else {
            throw .badValue("Prioritise takes either IDs or a batch")
        }
        try check(batch: call.batch)
        try check(call.ids)
        for record in try records(of: call.ids) where record.state != .queued && record.state != .waiting {
            throw .refused(
                "job \(record.id) is \(record.state.rawValue); only jobs that have not begun can get a priority")
        }
        return (JobChoice(ids: call.ids.isEmpty ? nil : call.ids, batch: call.batch), priority)
    }

    func priority(named name: String) throws(ControlError) -> Priority {
        if let priority = Priority(rawValue: name) { return priority }
        let known = Priority.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badValue("'\(name.prefix(50))' is not a priority; use one of: \(known)")
    }

    func check(batch: Int?) throws(ControlError) {
        guard let batch, !daemon.knows(batch: batch) else { return }
        throw Self.noSuchBatch(batch)
    }

    static func noSuchBatch(_ batch: Int) -> ControlError {
        .badValue("there is no batch \(batch); `pipectl batches` lists them")
    }

    /// Throws if the recipe is unknown. A removed recipe counts as known while the ledger still has its jobs.
    func check(recipe: String?) throws(ControlError) {
        guard let recipe, !isConfigured(recipe) else { return }
        if try answer({ try daemon.knows(recipe: recipe) }) { return }
        throw missing(recipe: recipe)
    }

    /// Whether the configuration has this recipe, or holds it because of a mistake.
    func isConfigured(_ recipe: String) -> Bool {
        let current = daemon.configurationInForce
        return current.recipe(recipe) != nil || current.held(recipe) != nil
    }

    /// The error for a recipe that is held because of a mistake, or that does not exist.
    func missing(recipe: String) -> ControlError {
        let current = daemon.configurationInForce
        if let held = current.held(recipe) { return .refused(held.reason) }
        return .noSuchRecipe(recipe, recipes: current.recipes.map(\.name))
    }
}
