/// Where an operation stands at its gate, which alone reads and changes this, under its lock.
struct Ticket {
    enum Standing: Equatable {
        /// It waits for other operations.
        case away
        /// It waits for its turn, also before Foundation has started it.
        case waiting(isStarted: Bool)
        /// It was let in, and begins as soon as Foundation starts it.
        case admitted
        /// It was let in, and has begun.
        case running
        /// It has begun and hangs; its place is free.
        case aside
        /// It is over.
        case gone
    }

    var place = QueuePlace()
    var lane = ""
    var standing = Standing.away
}
