package import PipelineModel

extension JobRecord {
    package static let redoCancelled = "its redo was cancelled"
    package static let asBefore = "the earlier results are unchanged"

    /// The outcome of the latest redo, if the redo produced no new results.
    package var redoEnd: JobState? {
        guard state == .done, error != nil else { return nil }
        return failure == nil ? .cancelled : .failed
    }

    /// Sets the state and the end time. A redo that fails or is cancelled returns the job to `done`, with its earlier
    /// results.
    package mutating func end(_ state: JobState, at time: Double?) {
        (self.state, finished) = (state, time)
        guard let former, state == .failed || state == .cancelled else { return }
        (order, self.former, self.state, reason) = (former, nil, .done, Self.asBefore)
        if state == .cancelled { (error, advice, failure) = (Self.redoCancelled, nil, nil) }
    }
}
