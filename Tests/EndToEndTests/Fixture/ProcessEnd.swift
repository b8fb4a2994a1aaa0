import CLinux
import Foundation

/// Waits, through a pidfd, for the exit of a process that is not a child of the test process.
struct ProcessEnd: Sendable {
    private let descriptor: Int32

    init(_ process: Int32) { descriptor = clinux_pidfd_open(process) }

    func wait() async {
        guard descriptor >= 0 else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
                close(descriptor)
                continuation.resume()
            }
        }
    }
}
