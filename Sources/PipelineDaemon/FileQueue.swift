import Dispatch

/// Queues for work that may wait for a disk. Each is new, and so has a thread of its own: a concurrent queue has few
/// threads, and libdispatch would look each second whether these hang, even when there is nothing to do.
enum FileQueue {
    static func make() -> DispatchQueue { DispatchQueue(label: "pipelined.files") }

    static func async(_ body: @escaping @Sendable () -> Void) { make().async(execute: body) }
}
