import DaemonInterface
import DaemonRuntime
package import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

extension ControlService {
    func addWatchingCalls() {
        on(Call.Watch.self) { [self] call, request in try watch(call, request) }
        on(Call.Wait.self) { [self] call, request in
            guard request.more else {
                throw ControlError.badValue("Wait is called with 'more': it answers as jobs end")
            }
            wait(call, request)
        }
    }

    private func wait(_ call: Call.Wait, _ request: ControlRequest) {
        let connection = request.connection
        let endings = Endings()
        connection.follow(()) { [daemon] _ in
            endings.next(daemon)
        } abandoned: { [daemon] in
            endings.abandon()
            Coordination.async { daemon.dropWaiters() }
        }
        let waiter = Waiter(
            each: { over in
                endings.append(over)
                connection.pump()
            },
            done: {
                endings.end()
                connection.pump()
            },
            delayed: { reason in
                endings.tell(reason)
                connection.pump()
            },
            isWanted: { endings.isWanted })
        Coordination.async { [self] in
            if call.ids.isEmpty, call.batch == nil { return daemon.wait(for: .all, waiter) }
            do {
                if let batch = call.batch {
                    guard call.ids.isEmpty else { throw ControlError.badValue("Wait takes either IDs or a batch") }
                    try self.check(batch: batch)
                    return daemon.wait(for: .batch(batch), waiter)
                }
                try self.check(call.ids)
                daemon.wait(for: .these(call.ids), waiter)
            } catch {
                request.fail(error)
            }
        }
    }

    /// Streams the event log from the cursor on, at the client's pace, including new events. If events have been
    /// deleted, the client receives a `lost` event first.
    private func watch(_ call: Call.Watch, _ request: ControlRequest) throws {
        let last = daemon.cursor
        var place = (cursor: call.cursor ?? last, ahead: nil as Control.Event?)
        if place.cursor > last {
            let text = "there is no event \(place.cursor): the log ends at \(last); new events follow"
            place = (last, Self.lost(text, before: last))
        }
        guard request.more else { return request.reply(Call.Watch.Reply(events: try next(&place))) }
        request.connection.follow(place) { [self] place in
            do throws(ControlError) {
                let events = try next(&place)
                return events.isEmpty
                    ? .nothing : .frame(ControlRequest.frame(Call.Watch.Reply(events: events), continues: true))
            } catch {
                return .last(ControlRequest.frame(error))
            }
        }
    }

    private func next(
        _ place: inout (cursor: Int, ahead: Control.Event?)
    ) throws(ControlError) -> [Control.Event] {
        if let event = place.ahead {
            place.ahead = nil
            return [event]
        }
        let cursor = place.cursor
        let events = try answer { try daemon.events(after: cursor, limit: 100) }
        guard let first = events.first?.event.cursor else { return [] }
        place.cursor = events.last?.event.cursor ?? cursor
        let shown = events.map { Control.Event($0.event, $0.job, $0.batch) }
        guard cursor >= 0, first > cursor + 1 else { return shown }
        let gone = "the events from \(cursor + 1) to \(first - 1) are gone: HistoryEvents= says how many are kept"
        return [Self.lost(gone, before: first - 1)] + shown
    }

    private static func lost(_ text: String, before cursor: Int) -> Control.Event {
        Control.Event(cursor: cursor, time: Timestamp.text(Timestamp.now()), kind: "lost", text: text)
    }
}

/// Ended jobs that a waiting client has not received yet. The client may be slow, so this queue keeps only the jobs'
/// IDs and states.
private final class Endings: Sendable {
    private struct State {
        var ended: [JobEnd] = []
        /// Number of jobs at the start of `ended` that were already sent.
        var taken = 0
        var isOver = false
        var isWanted = true
        var delay: String?
        var isDelaySent = true

        /// Returns the next unsent jobs, at most `most`. Removes sent jobs in large blocks, because each removal moves
        /// all remaining jobs in the array.
        mutating func take(_ most: Int) -> [JobEnd] {
            let page = Array(ended[taken...].prefix(most))
            taken += page.count
            if taken > ended.count / 2 {
                ended.removeFirst(taken)
                taken = 0
            }
            return page
        }
    }

    /// Maximum number of jobs in one reply.
    private static let page = 100
    private let state = Mutex(State())

    var isWanted: Bool { state.withLock { $0.isWanted } }

    func append(_ over: [JobEnd]) { state.withLock { $0.ended += over } }

    /// Sets the reason why the remaining jobs are delayed; nil if nothing delays them.
    func tell(_ delay: String?) { state.withLock { ($0.delay, $0.isDelaySent) = (delay, false) } }

    func end() { state.withLock { $0.isOver = true } }

    func abandon() {
        state.withLock {
            $0.isWanted = false
            ($0.ended, $0.taken) = ([], 0)
        }
    }

    func next(_ daemon: any DaemonInterface) -> ControlConnection.Step {
        let (page, isOver, delay, isNews) = state.withLock { state in
            defer { state.isDelaySent = true }
            return (state.take(Self.page), state.isOver, state.delay, !state.isDelaySent)
        }
        guard !page.isEmpty else {
            if isOver { return .last(ControlRequest.frame(Call.Wait.Reply(jobs: []), continues: false)) }
            return isNews
                ? .frame(ControlRequest.frame(Call.Wait.Reply(jobs: [], waitsFor: delay), continues: true)) : .nothing
        }
        let records: [Int: JobRecord]
        do {
            let found = try daemon.recordedJobs(page.map(\.id)).map { ($0.id, $0) }
            records = Dictionary(found, uniquingKeysWith: { first, _ in first })
        } catch {
            return .last(ControlRequest.frame(.unread(error)))
        }
        // Report each job in the state in which it ended, even if it has been retried since.
        let jobs = page.compactMap { ending in
            records[ending.id].map { $0.shown(state: ending.state, reason: $0.state == ending.state ? $0.reason : nil) }
        }
        return .frame(ControlRequest.frame(Call.Wait.Reply(jobs: jobs, waitsFor: delay), continues: true))
    }
}

extension ControlService {
    /// Encodes an event as a line of JSON, for a hook.
    package static func line(
        _ event: LoggedEvent, _ job: JobRecord?, _ batch: BatchRecord?, _ results: [String]?
    ) throws -> [UInt8] {
        var shown = Control.Event(event, job, batch)
        shown.outputs = results
        return try Wire.encode(shown) + [UInt8(ascii: "\n")]
    }
}

extension Control.Event {
    /// An event as clients see it, with the job in the state that the event reports.
    init(_ event: LoggedEvent, _ record: JobRecord?, _ batch: BatchRecord?) {
        self.init(
            cursor: event.cursor, time: Timestamp.text(event.time), kind: event.kind,
            job: record.map { $0.shown(at: event) }, batch: batch.map(\.shown), queue: event.queue, text: event.text,
            original: record.flatMap { $0.isOver && $0.file != .none && !$0.removesOriginal ? $0.source : nil },
            advice: record.flatMap { record in
                event.state == .failed && record.state == .failed && record.hasEnded(at: event) ? record.advice : nil
            })
    }
}

extension JobRecord {
    /// Whether the event dates from the job's latest end or later. An earlier event may report an end that a retry has
    /// undone.
    fileprivate func hasEnded(at event: LoggedEvent) -> Bool {
        finished.map { event.time >= $0 } ?? false
    }

    fileprivate func shown(at event: LoggedEvent) -> Control.Job {
        if event.kind == "priority" { return shown(state: event.state ?? state, reason: reason) }
        guard let former = event.state, former.isFinal, !hasEnded(at: event) else {
            var job = shown(state: event.state ?? state, reason: nil)
            job.reason = event.text == error ? nil : event.text
            return job
        }
        var job = shown(state: former, reason: former == .failed ? nil : event.text)
        job.error = former == .failed ? event.text : nil
        (job.failure, job.redo) = (nil, nil)
        return job
    }
}

extension BatchRecord {
    var shown: Control.Batch {
        Control.Batch(
            id: id, name: name, open: isOpen, waiting: jobs[.waiting] ?? 0, queued: jobs[.queued] ?? 0,
            running: jobs[.running] ?? 0, cancelling: jobs[.cancelling] ?? 0, done: jobs[.done] ?? 0,
            failed: jobs[.failed] ?? 0, cancelled: jobs[.cancelled] ?? 0, created: created.map(Timestamp.text),
            ended: finished.map(Timestamp.text), recipe: recipe)
    }
}
