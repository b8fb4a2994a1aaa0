/// An operation's order in its queue: higher priority first, then lower position, then earlier arrival.
///
/// Foundation's `queuePriority` is no substitute: Foundation may ignore it once an operation has been added.
package struct QueuePlace: Sendable, Comparable {
    package var priority: Int
    package var position: Int

    package init(priority: Int = 0, position: Int = 0) {
        (self.priority, self.position) = (priority, position)
    }

    package static func < (one: QueuePlace, other: QueuePlace) -> Bool {
        (other.priority, one.position) < (one.priority, other.position)
    }
}
