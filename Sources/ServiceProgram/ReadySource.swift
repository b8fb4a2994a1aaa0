import CLinux
package import Dispatch
import Foundation
import Glibc
import Synchronization
package import SystemCalls

/// Calls a handler on a queue whenever a descriptor is readable or writable, or its peer has hung up.
///
/// Replaces Dispatch's sources for reading and writing. On Linux, a Dispatch source frees its bookkeeping on two
/// threads at once when the peer hangs up. The process then sometimes crashes, or waits forever for an event that never
/// arrives.
package final class ReadySource: Sendable {
    package enum Direction { case reading, writing }

    private struct State {
        var descriptor: Descriptor?
        var handler: (@Sendable () -> Void)?
        var id: UInt64 = 0
        /// True while the kernel watches the descriptor, and while `fire` is queued after the kernel's report.
        var armed = false
        var suspended = false
    }

    private let queue: DispatchQueue
    private let isWriting: Bool
    private let state: Mutex<State>

    /// Retains the descriptor until `cancel` is called.
    package init(_ descriptor: Descriptor, _ direction: Direction = .reading, queue: DispatchQueue) {
        self.queue = queue
        isWriting = direction == .writing
        state = Mutex(State(descriptor: descriptor))
    }

    /// Starts to watch the descriptor. The source then lives until `cancel` is called.
    package func activate(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            state.handler = handler
            (state.descriptor, state.id) = ReadyLoop.shared.add(self, descriptor, writing: isWriting)
            state.armed = true
        }
    }

    /// Stops calling the handler until `resume`; a call in flight still completes.
    package func suspend() { state.withLock { $0.suspended = true } }

    package func resume() {
        state.withLock { state in
            state.suspended = false
            arm(&state)
        }
    }

    /// Stops calling the handler for good; a call in flight on the source's queue still completes.
    package func cancel() {
        let last = state.withLock { state in
            guard let descriptor = state.descriptor else { return State() }
            if state.id != 0 { ReadyLoop.shared.remove(state.id, descriptor) }
            defer { state = State() }
            return state
        }
        // Releases the handler and the descriptor outside the lock, because their release may run arbitrary code.
        withExtendedLifetime(last) {}
    }

    private func arm(_ state: inout State) {
        guard let descriptor = state.descriptor, !state.armed, !state.suspended, state.id != 0 else { return }
        state.armed = true
        ReadyLoop.shared.again(state.id, descriptor, writing: isWriting)
    }

    fileprivate func ready() { queue.async { self.fire() } }

    private func fire() {
        let now = state.withLock { state in
            state.armed = false
            return state.suspended ? State() : state
        }
        now.handler?()
        state.withLock { arm(&$0) }
    }
}

/// The thread that waits for the descriptors of all sources.
private final class ReadyLoop: Sendable {
    static let shared = ReadyLoop()

    private let epoll = clinux_epoll_create()
    private let sources = Mutex<(last: UInt64, byID: [UInt64: ReadySource])>((0, [:]))

    private init() {
        precondition(epoll >= 0, "epoll_create1: \(String(cString: strerror(errno)))")
        Thread.detachNewThread { [self] in
            var ids = [UInt64](repeating: 0, count: 64)
            while true {
                let count = Int(clinux_epoll_wait(epoll, &ids, Int32(ids.count)))
                let ready = sources.withLock { sources in ids.prefix(max(0, count)).compactMap { sources.byID[$0] } }
                for source in ready { source.ready() }
            }
        }
    }

    /// Returns the watched descriptor. epoll accepts each descriptor only once, so a second source for the same
    /// descriptor watches a duplicate.
    func add(_ source: ReadySource, _ descriptor: Descriptor, writing: Bool) -> (Descriptor, UInt64) {
        let id = sources.withLock { sources in
            sources.last += 1
            sources.byID[sources.last] = source
            return sources.last
        }
        if clinux_epoll_add(epoll, descriptor.number, writing ? 1 : 0, id) == 0 { return (descriptor, id) }
        let duplicate = Descriptor(owning: fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0))
        // If epoll can't watch the descriptor, report it as ready: the handler's own call then returns the error.
        if clinux_epoll_add(epoll, duplicate.number, writing ? 1 : 0, id) != 0 { source.ready() }
        return (duplicate, id)
    }

    func again(_ id: UInt64, _ descriptor: Descriptor, writing: Bool) {
        _ = clinux_epoll_again(epoll, descriptor.number, writing ? 1 : 0, id)
    }

    /// Must be called before the descriptor is closed. Otherwise, if another descriptor still has the file open, epoll
    /// keeps reporting events of that file.
    func remove(_ id: UInt64, _ descriptor: Descriptor) {
        _ = clinux_epoll_remove(epoll, descriptor.number)
        sources.withLock { _ = $0.byID.removeValue(forKey: id) }
    }
}
