import DaemonConfiguration
import DaemonRuntime
import InboxWatching
import JobFlow
import JobLedger
import JobModel
import PictureFiles
package import PipelineControl
import PipelineModel

/// Calls that cancel or prioritise many jobs at once.
extension ControlService {
    func addChoiceCalls() {
        onWriting(Call.CancelMatching.self) { [self] call, request in
            let choice = try choice(of: call)
            Log.notice(
                "cancel of \(Self.said(call)) asked for by \(request.connection.peer)",
                of: LogSubject(batch: call.batch, recipe: call.recipe))
            let (files, inboxes) = settling(choice)
            owners.changes.cancel(choice, settling: files, in: inboxes) { cancelled, left in
                if let left { return request.fail(ControlError.refused(left)) }
                request.reply(Call.CancelMatching.Reply(cancelled: cancelled))
            }
        }
        onWriting(Call.Prioritise.self) { [self] call, request in
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
        // Queued jobs are shown as waiting while their queue starts no operations.
        let held = states.contains(.waiting) ? waitReasons().map(\.entry) : []
        return JobChoice(batch: call.batch, recipe: call.recipe, states: states.isEmpty ? nil : states, held: held)
    }

    /// A settling file counts as a waiting job of its inbox's recipe, and of its folder's batch.
    private func settling(_ choice: JobChoice) -> (files: SettlingChoice, inboxes: [Inbox]) {
        guard choice.states?.contains(.waiting) ?? true else { return (.all, []) }
        func isChosen(_ inbox: Inbox) -> Bool { choice.recipe == nil || inbox.recipe.name == choice.recipe }
        guard let batch = choice.batch else { return (.all, owners.inboxes.all.filter(isChosen)) }
        guard let place = owners.folders.place(of: batch), isChosen(place.inbox) else { return (.all, []) }
        return (.folder(place.folder), [place.inbox])
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

    package func check(batch: Int?) throws(ControlError) {
        guard let batch, !owners.jobs.knows(batch: batch) else { return }
        throw Self.noSuchBatch(batch)
    }

    static func noSuchBatch(_ batch: Int) -> ControlError {
        .badValue("there is no batch \(batch); `pipectl batches` lists them")
    }

    /// Throws if the recipe is unknown. A removed recipe is accepted while the ledger still has jobs of it.
    package func check(recipe: String?) throws(ControlError) {
        guard let recipe, current.recipe(recipe) == nil, current.held(recipe) == nil else { return }
        if try ledger.answer({ try $0.knows(recipe: recipe) }) { return }
        throw missing(recipe: recipe)
    }

    /// The error for a recipe that is held because of a mistake, or that does not exist.
    package func missing(recipe: String) -> ControlError {
        if let held = current.held(recipe) { return .refused(held.reason) }
        return .noSuchRecipe(recipe, recipes: current.configuration.recipes.map(\.name))
    }
}
