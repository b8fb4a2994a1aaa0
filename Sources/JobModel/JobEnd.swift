package import PipelineModel

/// A job's ID and its final state.
package struct JobEnd: Sendable, Equatable {
    package var id: Int
    package var state: JobState

    package init(id: Int, state: JobState) { (self.id, self.state) = (id, state) }
}
