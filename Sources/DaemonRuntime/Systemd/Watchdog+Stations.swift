package import Dispatch
import Glibc
package import SystemCalls

extension Watchdog.Station {
    /// A queue that runs what is given to it.
    package static func queue(_ name: String, _ queue: DispatchQueue) -> Watchdog.Station {
        Watchdog.Station(name: name) { answer in queue.async(execute: answer) }
    }

    /// The thread that waits for all descriptors: a byte that is sent here has to be told of there.
    package static func readyLoop() throws(SystemError) -> Watchdog.Station {
        let (near, far) = try Descriptor.pair(type: Int32(SOCK_DGRAM.rawValue))
        let answers = DispatchQueue(label: "pipelined.watchdog.events")
        let source = ReadySource(far, queue: answers)
        let pending = PendingAnswer()
        source.activate {
            _ = try? Socket.receive(room: 1, from: far)
            pending.give()
        }
        return Watchdog.Station(name: "the event loop") { answer in
            answers.async {
                pending.answer = answer
                _ = try? Socket.send([0], to: near)
            }
        }
    }
}

/// `@unchecked`: it is touched on the queue `pipelined.watchdog.events` alone.
private final class PendingAnswer: @unchecked Sendable {
    var answer: (@Sendable () -> Void)?

    func give() {
        answer?()
        answer = nil
    }
}
