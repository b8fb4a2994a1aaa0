import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram

extension ControlService {
    func addNeedsCalls() {
        onWriting(Call.Depend.self) { [self] call, request in
            try depend(call) { [self] answer in
                if let error = error(answer, of: call.id) { return request.fail(error) }
                do {
                    request.reply(Call.Depend.Reply(job: shown(try record(of: call.id))))
                } catch {
                    request.fail(error)
                }
            }
            Log.notice(
                "the dependencies of job \(call.id) were changed by \(request.connection.peer)",
                of: LogSubject(jobs: [call.id]))
        }
    }
}

@Coordination
extension ControlService {
    func depend(_ call: Call.Depend, done: @escaping @Coordination @Sendable (NeedsAnswer) -> Void)
        throws(ControlError)
    {
        guard !daemon.isStopping else { throw .refused("the daemon is stopping; try again when it is back") }
        guard !call.after.isEmpty || !call.remove.isEmpty || call.anyway else {
            throw .badValue("Depend takes dependencies to add or to remove")
        }
        try check(numberOf: call.after + call.remove)
        daemon.depend(call.id, after: call.after, remove: call.remove, anyway: call.anyway, done: done)
    }

    /// The error for the client, or nil if the dependency was changed.
    nonisolated func error(_ answer: NeedsAnswer, of job: Int) -> ControlError? {
        switch answer {
        case .done: return nil
        case .unknown(let id): return .noSuchJob(id)
        case .begun(let state):
            let word = state == .done ? "is done" : "has begun already"
            return .refused("job \(job) \(word): its dependencies can be changed only until it begins")
        case .circle(let path) where path.count == 2:
            return .refused("job \(job) can't come after itself (\(Self.said(path)))")
        case .circle(let path):
            return .refused("they would wait for each other forever: \(Self.said(path)), where → means comes after")
        case .over(let id, let state):
            let word = state == .failed ? "has failed" : "was cancelled"
            return .refused(
                "job \(id) \(word), so a job after it would not run; `pipectl retry \(id)` first, or use --anyway")
        case .unneeded(let id): return .refused("job \(job) does not come after job \(id); see `pipectl show \(job)`")
        case .refused: return .refused("the ledger refuses it; see the daemon's log")
        }
    }

    /// Formats a cycle as `#3 → #7 → #3`, and leaves out the middle of a long cycle.
    private nonisolated static func said(_ path: [Int]) -> String {
        let words = path.map { "#\($0)" }
        guard words.count > 12 else { return words.joined(separator: " → ") }
        return (words.prefix(8) + ["… \(words.count - 10) more …"] + words.suffix(2)).joined(separator: " → ")
    }

    /// Throws if one of these jobs depends on a failed, cancelled or unknown job that is not retried as well: the
    /// retried job would fail again.
    func checkNeeds(ofRetried ids: [Int], _ states: [JobState]) throws(ControlError) {
        guard let found = try answer({ try daemon.hindered(of: ids, bringingBack: states) }) else { return }
        let word =
            switch found.state {
            case .failed?: "has failed"
            case nil: "is not known any more"
            default: "was cancelled"
            }
        let both = found.state == nil ? "" : "`pipectl retry \(found.after) \(found.job)` brings both back; "
        throw .refused(
            "job \(found.job) comes after job \(found.after), which \(word): \(both)"
                + "`pipectl depend \(found.job) --remove \(found.after)` lets it run without")
    }
}
