import Dispatch
import PipelineControl
import PipelineModel

extension ControlService {
    func addWatchingCalls() {
        on(Call.Watch.self) { [self] call, request in watch(call, request) }
        onSupervisor(Call.Wait.self) { [supervisor] call, request in
            for id in call.ids { _ = try supervisor.record(of: id) }
            let each: @Sendable (JobRecord) -> Void = { record in
                request.reply(
                    JobsReply(jobs: [record.shown(state: record.state, reason: record.reason)]), continues: true)
            }
            guard request.more else {
                throw ControlError.badValue("Wait is called with 'more': it answers as jobs end")
            }
            let done: @Sendable () -> Void = { request.reply(JobsReply(jobs: [])) }
            if call.ids.isEmpty {
                supervisor.waitForAll(each: each, done: done)
            } else {
                supervisor.wait(for: call.ids, each: each, done: done)
            }
        }
    }

    /// Reads the event log from the cursor, as fast as the client takes it, and goes on as it grows.
    private func watch(_ call: Call.Watch, _ request: ControlRequest) {
        let ledger = supervisor.ledger
        let supervisor = supervisor
        var cursor = call.cursor ?? ((try? ledger.lastCursor()) ?? 0)
        let next = { () -> [Control.Event] in
            let events = (try? ledger.events(after: cursor, limit: 100)) ?? []
            cursor = events.last?.event.cursor ?? cursor
            return events.map { supervisor.shown($0.event, $0.job) }
        }
        guard request.more else { return request.reply(Call.Watch.Reply(events: next())) }
        let connection = request.connection
        connection.follow {
            let events = next()
            guard !events.isEmpty else { return false }
            connection.enqueue(ControlRequest.frame(Call.Watch.Reply(events: events), continues: true) ?? [])
            return true
        }
    }
}

extension Supervisor {
    /// An event as clients see it: the job in the state that the event tells of.
    func shown(_ event: LoggedEvent, _ record: JobRecord?) -> Control.Event {
        Control.Event(
            cursor: event.cursor, time: Timestamp.text(event.time), kind: event.kind,
            job: record.map { $0.shown(state: event.state ?? $0.state, reason: event.text) }, queue: event.queue,
            text: event.text)
    }
}
