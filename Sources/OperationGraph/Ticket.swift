/// An operation's status at the gate of its queue. Only code under the gate's lock reads or changes it.
struct Ticket {
    enum Standing: Equatable {
        /// The operation has not reached the gate, because it still waits for its dependencies.
        case away
        /// The operation waits for admission. `isStarted` is true if Foundation has called `start`.
        case waiting(isStarted: Bool)
        /// The gate has admitted the operation, which begins as soon as Foundation calls `start`.
        case admitted
        /// The gate has admitted the operation, and the operation has begun.
        case running
        /// The operation has begun, but has given up its slot, because it hangs or the fleet executes it.
        case aside
        /// The operation has finished, failed or been cancelled.
        case gone
    }

    var place = QueuePlace()
    var lane = GateLane.Name()
    var standing = Standing.away
}
