import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram

/// Calls that remove files and ledger rows of ended jobs.
extension ControlService {
    func addKeepingCalls() {
        onOwners(Call.Clean.self) { [self] call, request in
            let wishes = try wishes(of: call, by: request.connection.peer)
            if call.trial != true {
                Log.notice(
                    "clean of \(call.places.joined(separator: ", ")) asked for by \(request.connection.peer)",
                    of: LogSubject(recipe: call.recipe))
            }
            daemon.clean(wishes) { result in
                switch result {
                case .success(let outcomes):
                    let cleaned = zip(wishes, outcomes).map { $1.shown(of: $0.place) }
                    request.reply(Call.Clean.Reply(cleaned: cleaned))
                case .failure(let error): request.fail(ControlError.unread(error))
                }
            }
        }
        onWriting(Call.Forget.self) { [self] call, request in
            let (choice, time) = try choice(of: call)
            try answer {
                try daemon.forget(choice, endedBefore: time) {
                    request.reply(Call.Forget.Reply(forgotten: $0, left: $1))
                }
            }
            let ids = call.ids.count == 1 ? "job \(call.ids[0])" : "\(call.ids.count) jobs"
            let who = call.ids.isEmpty ? "jobs that are " + call.states.joined(separator: " or ") : ids
            Log.notice(
                "forgetting of \(who) asked for by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids, recipe: call.recipe))
        }
    }
}

@Coordination
extension ControlService {
    private func wishes(of call: Call.Clean, by peer: String) throws(ControlError) -> [CleanWish] {
        try check(recipe: call.recipe)
        var places: [KeptPlace] = []
        for name in call.places {
            guard let place = KeptPlace(rawValue: name) else {
                let known = KeptPlace.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badValue("'\(name.prefix(50))' is not a place that can be cleaned; use one of: \(known)")
            }
            if !places.contains(place) { places.append(place) }
        }
        guard !places.isEmpty else { throw .badValue("Clean needs places; it never removes everything on its own") }
        let before = try Self.time(call.older)
        let most: Int?
        do throws(Refusal) {
            most = try call.most.map { text throws(Refusal) in Int(try KeepRule.bytes(text)) }
        } catch {
            throw .badValue("'\((call.most ?? "").prefix(50))' \(error.sentence)")
        }
        return places.map { place in
            CleanWish(
                place: place, before: before, most: most, recipe: call.recipe, by: "\(peer), with pipectl clean",
                isTrial: call.trial == true)
        }
    }

    /// Returns the chosen jobs, and the time before which they must have ended.
    private func choice(of call: Call.Forget) throws(ControlError) -> (JobChoice, Double) {
        try check(recipe: call.recipe)
        try check(call.ids)
        guard call.ids.isEmpty != call.states.isEmpty else { throw .badValue("Forget takes either IDs or states") }
        var states: [JobState] = []
        for name in call.states {
            guard let state = JobState(rawValue: name), state.isFinal else {
                throw .badValue("'\(name.prefix(50))' can't be forgotten; done, failed and cancelled can")
            }
            states.append(state)
        }
        for record in try records(of: call.ids) {
            guard daemon.isOver(record) else {
                throw .refused("job \(record.id) is \(shown(record).state) and not over; it can't be forgotten yet")
            }
            guard record.origin != .kept else {
                throw .refused(
                    "job \(record.id) is not forgotten: its original stays at \(record.source), and would be taken again"
                )
            }
        }
        let time = try Self.time(call.older) ?? .infinity
        return (
            JobChoice(
                ids: call.ids.isEmpty ? nil : call.ids, recipe: call.recipe, states: states.isEmpty ? nil : states),
            time
        )
    }
}

extension CleanOutcome {
    fileprivate func shown(of place: KeptPlace) -> Control.Cleaned {
        Control.Cleaned(
            place: place.rawValue, files: files, bytes: bytes, oldest: oldest.map(Timestamp.text),
            newest: newest.map(Timestamp.text), refused: refused, refusal: refusal)
    }
}
