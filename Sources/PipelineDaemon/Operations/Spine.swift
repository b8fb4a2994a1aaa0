import Dispatch

/// The supervisor, its pools of workers and the starts of operations have queues of their own, and share one thread: none of them ever
/// waits, and each hands over to the others several times a job, which between threads costs more than the work.
enum Spine {
    static let queue = DispatchQueue(label: "pipelined.spine")
}
