package import PipelineModel
import ServiceProgram

/// An entry of the event log.
package struct LoggedEvent: Sendable {
    package var cursor: Int
    package var time: Double
    package var kind: String
    package var job: Int?
    package var state: JobState?
    package var queue: String?
    package var text: String?
    package var batch: Int?

    package init(
        cursor: Int = 0, time: Double = Timestamp.now(), kind: String, job: Int? = nil, state: JobState? = nil,
        queue: String? = nil, text: String? = nil, batch: Int? = nil
    ) {
        (self.cursor, self.time, self.kind, self.job) = (cursor, time, kind, job)
        (self.state, self.queue, self.text, self.batch) = (state, queue, text, batch)
    }

    /// The occasion on which hooks run for this event. Meaningful only for events that hooks receive.
    package var occasion: HookOccasion {
        guard kind == "batch" else { return state.flatMap { HookOccasion(rawValue: $0.rawValue) } ?? .done }
        return text == HookOccasion.arrived.rawValue ? .arrived : .batch
    }

    package static func job(_ id: Int, _ state: JobState, _ reason: String?) -> LoggedEvent {
        LoggedEvent(kind: "job", job: id, state: state, text: reason)
    }
}
