import DaemonRuntime
import InboxWatching
import JobLedger
import PipelineControl
import PipelineModel

/// Calls that speak of many jobs at once.
extension ControlService {
    func addChoiceCalls() {
        onOwners(Call.CancelMatching.self) { [self] call, request in
            let choice = try choice(of: call)
            Log.notice(
                "cancel of \(Self.said(call)) asked for by \(request.connection.peer)",
                of: LogSubject(batch: call.batch, recipe: call.recipe))
            owners.changes.cancel(choice, settlingIn: inboxes(settling: choice)) {
                request.reply(Call.CancelMatching.Reply(cancelled: $0))
            }
        }
        onOwners(Call.Prioritise.self) { [self] call, request in
            let (choice, priority) = try choice(of: call)
            Log.notice(
                "priority \(priority.rawValue) given by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids, batch: call.batch))
            owners.changes.prioritise(choice, priority) { request.reply(Call.Prioritise.Reply(changed: $0)) }
        }
    }

    private static func said(_ call: Call.CancelMatching) -> String {
        let states = call.states.isEmpty ? "all" : "what is \(call.states.joined(separator: " or "))"
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
        // While none begins, what is recorded as queued is shown as waiting.
        let held = states.contains(.waiting) ? waitReasons().map(\.entry) : []
        return JobChoice(batch: call.batch, recipe: call.recipe, states: states.isEmpty ? nil : states, held: held)
    }

    /// A settling file waits to become a job of its recipe, and belongs to no batch.
    func inboxes(settling choice: JobChoice) -> [Inbox] {
        guard choice.batch == nil, choice.states?.contains(.waiting) ?? true else { return [] }
        return owners.inboxes.all.filter { choice.recipe == nil || $0.recipe.name == choice.recipe }
    }

    func choice(of call: Call.Prioritise) throws(ControlError) -> (JobChoice, Priority) {
        let priority = try priority(named: call.priority)
        guard call.ids.isEmpty != (call.batch == nil) else {
            throw .badValue("Prioritise takes either IDs or a batch")
        }
        try check(batch: call.batch)
        try check(call.ids)
        for record in try records(of: call.ids) where record.state != .queued && record.state != .waiting {
            throw .refused("job \(record.id) is \(record.state.rawValue); a priority is given to what has not begun")
        }
        return (JobChoice(ids: call.ids.isEmpty ? nil : call.ids, batch: call.batch), priority)
    }

    func priority(named name: String) throws(ControlError) -> Priority {
        if let priority = Priority(rawValue: name) { return priority }
        let known = Priority.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badValue("'\(name.prefix(50))' is no priority; these are: \(known)")
    }

    func check(batch: Int?) throws(ControlError) {
        guard let batch, !owners.numbers.knows(batch: batch) else { return }
        throw Self.noSuchBatch(batch)
    }

    static func noSuchBatch(_ batch: Int) -> ControlError {
        .badValue("there is no batch \(batch); `pipectl batches` lists them")
    }

    /// A recipe that was removed may still have jobs.
    func check(recipe: String?) throws(ControlError) {
        guard let recipe, current.recipe(recipe) == nil else { return }
        if try ledger.answer({ try $0.knows(recipe: recipe) }) { return }
        throw .noSuchRecipe(recipe, recipes: current.configuration.recipes.map(\.name))
    }
}
