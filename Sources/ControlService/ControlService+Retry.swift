import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel

@Coordination
extension ControlService {
    /// Retries failed and cancelled jobs with the current version of their recipe. Jobs that wait for an automatic
    /// retry are retried now. Once the change is durable, calls `done` with the jobs' IDs, or with an error that names
    /// the jobs that can't be retried.
    func retry(_ call: Call.Retry, done: @escaping @Sendable (Result<[Int], ControlError>) -> Void) throws(ControlError)
    {
        guard call.ids.isEmpty || call.batch == nil else { throw .badValue("Retry takes either IDs or a batch") }
        for name in call.states where !["failed", "cancelled", "waiting"].contains(name) {
            throw .badValue("'\(name.prefix(50))' can't be retried; failed, cancelled and waiting can")
        }
        let named = try records(of: Set(call.ids).sorted())
        let early = named.filter { $0.state == .waiting && $0.waitReason == .retry }.map(\.id)
        let records = named.filter { !early.contains($0.id) }
        for record in records {
            guard record.state == .failed || record.state == .cancelled, record.returns == nil else {
                let state = record.returns == nil ? shown(record).state : "being brought back already"
                throw .refused(
                    "job \(record.id) is \(state); only a job that failed, was cancelled, or waits "
                        + "for its next attempt can be retried")
            }
            guard !record.isList else {
                throw .refused("job \(record.id) was a list; `pipectl add` its file, which lies in \(record.source)")
            }
            guard record.order.adHoc || daemon.configurationInForce.recipe(record.order.recipe) != nil else {
                throw missing(recipe: record.order.recipe)
            }
        }
        var states = call.states.compactMap(JobState.init(rawValue:)).filter(\.isFinal)
        if call.batch != nil, call.states.isEmpty { states = [.failed, .cancelled] }
        try checkNeeds(ofRetried: records.map(\.id), states)
        daemon.retry(
            records, early: call.states.contains("waiting") ? nil : early, states, of: call.batch
        ) {
            done($0.answer)
        }
    }
}

extension RetryOutcome {
    fileprivate var answer: Result<[Int], ControlError> {
        if let unread { return .failure(.unread(unread)) }
        guard lostCount > 0 else { return .success(ids) }
        let more = lostCount > lost.count ? ", and \(lostCount - lost.count) more" : ""
        return .failure(
            .refused(
                "\(ids.count) of \(ids.count + lostCount) are retried; the others can't be "
                    + "brought back: \(lost.joined(separator: "; "))\(more)"))
    }
}
