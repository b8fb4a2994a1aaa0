package import Dispatch
import Glibc
import Synchronization
package import SystemCalls

extension Watchdog.Station {
    /// A station that answers as long as the queue runs its blocks.
    package static func queue(_ name: String, _ queue: DispatchQueue) -> Watchdog.Station {
        Watchdog.Station(name: name) { answer in queue.async(execute: answer) }
    }

    /// A station that sends a byte over a socket to itself, and answers when `ReadyLoop` reports the byte.
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
                pending.answer.withLock { $0 = answer }
                _ = try? Socket.send([0], to: near)
            }
        }
    }
}

private final class PendingAnswer: Sendable {
    let answer = Mutex<(@Sendable () -> Void)?>(nil)

    func give() {
        let due = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        due?()
    }
}
