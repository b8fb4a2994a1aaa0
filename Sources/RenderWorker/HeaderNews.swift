import Dispatch
import Foundation
import Glibc
import Synchronization
import WorkerProtocol

/// Sends the header of a picture that one request both opens and renders. Usually the answer includes the header. If
/// the render is slow, the header is sent before the answer, so that clients learn early which picture is being
/// rendered.
final class HeaderNews: Sendable {
    /// After this time the header is sent without waiting for the answer.
    private static let patience: UInt32 = 100_000  // microseconds

    private enum Stage {
        case none
        case awaited
        /// `patience` has passed, so the header is sent as soon as it is known.
        case overdue
        case known(PictureHeader)
    }

    private struct State {
        var stage = Stage.none
        var number = 0
        var isWatched = false
    }

    private let state = Mutex(State())
    private let begun = DispatchSemaphore(value: 0)
    private let tell: @Sendable (PictureHeader) -> Void

    /// Calls `tell` under a lock, so that the answer can't overtake the header.
    init(tell: @escaping @Sendable (PictureHeader) -> Void) { self.tell = tell }

    /// Starts a thread that watches for slow renders. The thread sleeps while no picture is being rendered, and a burst
    /// of pictures wakes it only once.
    func watch() {
        Thread.detachNewThread { [self] in
            while true {
                begun.wait()
                while watchesOn() {}
            }
        }
    }

    /// Waits for `patience`, then sends the header if the answer has not been sent. Returns true if a newer picture has
    /// begun in the meantime: the caller must then watch that picture.
    private func watchesOn() -> Bool {
        let number = state.withLock { $0.number }
        usleep(Self.patience)
        return state.withLock { state in
            if state.number != number { return true }
            switch state.stage {
            case .awaited: state.stage = .overdue
            case .known(let header):
                tell(header)
                state.stage = .none
            case .none, .overdue: break
            }
            state.isWatched = false
            return false
        }
    }

    /// Called when a request arrives that may both open and render a picture.
    func begin() {
        let wakes = state.withLock { state in
            defer { state.isWatched = true }
            state.stage = .awaited
            state.number += 1
            return !state.isWatched
        }
        if wakes { begun.signal() }
    }

    func found(_ header: PictureHeader) {
        state.withLock { state in
            guard case .overdue = state.stage else { return state.stage = .known(header) }
            tell(header)
            state.stage = .none
        }
    }

    /// Returns the header for the answer. Nil if no header is known, or if the header has already been sent.
    func take() -> PictureHeader? {
        state.withLock { state in
            defer { state.stage = .none }
            if case .known(let header) = state.stage { return header }
            return nil
        }
    }
}
