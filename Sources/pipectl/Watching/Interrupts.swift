import Glibc
import Synchronization
import SystemCalls

/// Waits for data, until Ctrl-C, SIGTERM or `--timeout` ends the waiting. A signal handler writes each signal into a
/// pipe, so a signal between two waits is not lost.
final class Interrupts {
    enum Wakening: Equatable {
        case readable(Set<Int>)
        case timeout
        /// The terminal's size has changed.
        case resized
    }

    /// Static, because a signal handler can't capture an instance.
    private static let writeEnd = Atomic<Int32>(-1)
    private let readEnd: Int32
    private let deadline: Deadline
    /// Whether the last check of the descriptors, after the deadline, has begun.
    private var isLastLook = false

    init(_ invocation: Invocation) throws {
        deadline = try Deadline(invocation)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe", "signals") }
        readEnd = ends[0]
        Self.writeEnd.store(ends[1], ordering: .releasing)
        for number in [SIGINT, SIGTERM, SIGWINCH] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interrupts.writeEnd.load(ordering: .acquiring), &byte, 1)
            }
        }
    }

    /// Waits until a descriptor is readable, the terminal's size changes, or the time has passed. If `milliseconds` is
    /// nil, only `--timeout` limits the wait.
    func wait(for descriptors: [Descriptor], milliseconds: Int?) throws(EarlyEnd) -> Wakening {
        // Data that has arrived by the deadline still counts. Later data does not, even if it never stops arriving.
        if isLastLook { throw .timedOut }
        isLastLook = deadline.isOver
        let wakening = try wake(on: descriptors, deadline.milliseconds(orBefore: milliseconds))
        if wakening == .timeout, deadline.isOver { throw .timedOut }
        return wakening
    }

    private func wake(on descriptors: [Descriptor], _ milliseconds: Int?) throws(EarlyEnd) -> Wakening {
        var polled = ([readEnd] + descriptors.map(\.number)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Any other signal, such as SIGCONT after Ctrl-Z and fg, counts as a timeout, and the screen is redrawn.
        guard poll(&polled, nfds_t(polled.count), milliseconds.map(Int32.init) ?? -1) > 0 else { return .timeout }
        if polled[0].revents != 0 {
            var byte: UInt8 = 0
            guard read(readEnd, &byte, 1) == 1, Int32(byte) == SIGWINCH else { throw .interrupted }
            return .resized
        }
        return .readable(Set(descriptors.indices.filter { polled[$0 + 1].revents != 0 }))
    }
}
