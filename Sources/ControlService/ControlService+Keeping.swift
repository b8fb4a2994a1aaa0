import DaemonConfiguration
import DaemonRuntime
package import JobFlow
import JobLedger
import JobModel
import PictureFiles
package import PipelineControl
import PipelineModel
import Previewing
import WorkerPools

/// Calls that remove files and ledger rows of ended jobs.
extension ControlService {
    func addKeepingCalls() {
        onOwners(Call.Clean.self) { [self] call, request in
            let wishes = try wishes(of: call)
            if call.trial != true {
                Log.notice(
                    "clean of \(call.places.joined(separator: ", ")) asked for by \(request.connection.peer)",
                    of: LogSubject(recipe: call.recipe))
            }
            owners.keeping.clean(wishes) { result in
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
            let left = try ledger.answer { try $0.unforgettable(choice, endedBefore: time) }
            let ids = call.ids.count == 1 ? "job \(call.ids[0])" : "\(call.ids.count) jobs"
            let who = call.ids.isEmpty ? "what is " + call.states.joined(separator: " or ") : ids
            Log.notice(
                "forgetting of \(who) asked for by \(request.connection.peer)",
                of: LogSubject(jobs: call.ids, recipe: call.recipe))
            owners.jobs.forget(choice, endedBefore: time) {
                request.reply(Call.Forget.Reply(forgotten: $0, left: left))
            }
        }
    }

    /// The number and size of the kept files in each place, with the place's rule. Places without kept files and
    /// without a rule are left out.
    package func kept() throws -> [Control.Kept] {
        let sums = try ledger.keptSums()
        let rules = owners.configuration.settings.keep
        return KeptPlace.allCases.compactMap { place in
            guard sums[place] != nil || !rules[place].keepsEverything else { return nil }
            return Control.Kept(
                place: place.rawValue, rule: rules[place].text, files: sums[place]?.files ?? 0,
                bytes: sums[place]?.bytes ?? 0)
        }
    }
}

@Coordination
extension ControlService {
    private func wishes(of call: Call.Clean) throws(ControlError) -> [Tidying.Wish] {
        try check(recipe: call.recipe)
        var places: [KeptPlace] = []
        for name in call.places {
            guard let place = KeptPlace(rawValue: name) else {
                let known = KeptPlace.allCases.map(\.rawValue).joined(separator: ", ")
                throw .badValue("'\(name.prefix(50))' is no place to be cleaned; these are: \(known)")
            }
            if !places.contains(place) { places.append(place) }
        }
        guard !places.isEmpty else { throw .badValue("Clean wants places; it never removes everything on its own") }
        let before = try Self.time(call.older)
        let most: Int?
        do throws(Refusal) {
            most = try call.most.map { text throws(Refusal) in Int(try KeepRule.bytes(text)) }
        } catch {
            throw .badValue("'\((call.most ?? "").prefix(50))' \(error.sentence)")
        }
        return places.map { place in
            Tidying.Wish(
                place: place, before: before, most: most, recipe: call.recipe, by: "pipectl clean",
                isTrial: call.trial == true)
        }
    }

    /// The chosen jobs, and the time before which they must have ended.
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
            guard record.isOver, owners.jobs[record.id] == nil else {
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

extension Tidying.Outcome {
    fileprivate func shown(of place: KeptPlace) -> Control.Cleaned {
        Control.Cleaned(
            place: place.rawValue, files: files, bytes: bytes, oldest: oldest.map(Timestamp.text),
            newest: newest.map(Timestamp.text), refused: refused, refusal: refusal)
    }
}

extension Control.Overview {
    /// Returns the status with the sizes of these disks.
    package func with(_ disks: [DiskFigures.Figure]) -> Control.Overview {
        var status = self
        status.disks = disks.map { Control.Disk(path: $0.path, bytes: $0.bytes, free: $0.free) }
        return status
    }
}
