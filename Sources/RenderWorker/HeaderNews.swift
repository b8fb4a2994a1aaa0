import Dispatch
import Foundation
import Glibc
import Synchronization
import WorkerProtocol

/// The header of a picture that is rendered at once. It travels with the answer or, if the render is slow, ahead of it,
/// so that clients learn early which picture is in progress.
final class HeaderNews: Sendable {
    /// Maximum time that the header waits for the answer.
    private static let patience: UInt32 = 100_000  // microseconds

    private enum Stage {
        case none
        case awaited
        /// The header is sent as soon as it is known.
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

    /// Starts a thread that watches for slow pictures. It sleeps while no picture is in progress, and a burst of
    /// pictures wakes it only once.
    func watch() {
        Thread.detachNewThread { [self] in
            while true {
                begun.wait()
                while watchesOn() {}
            }
        }
    }

    /// Waits once. Returns false when no picture is left to watch.
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

    /// Awaits the header of a picture that may be rendered at once.
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

    /// The header for the answer, unless it was sent ahead.
    func take() -> PictureHeader? {
        state.withLock { state in
            defer { state.stage = .none }
            if case .known(let header) = state.stage { return header }
            return nil
        }
    }
}
