/// An operation's standing at its gate. Only the gate reads and changes it, under its lock.
struct Ticket {
    enum Standing: Equatable {
        /// It waits for its dependencies.
        case away
        /// It waits for its turn; Foundation may not have started it yet.
        case waiting(isStarted: Bool)
        /// It was let in, and begins as soon as Foundation starts it.
        case admitted
        /// It was let in, and has begun.
        case running
        /// It has begun, but hangs or goes on elsewhere; its place is free.
        case aside
        /// It is over.
        case gone
    }

    var place = QueuePlace()
    var lane = ""
    var standing = Standing.away
}
