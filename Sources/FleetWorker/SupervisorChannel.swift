import Glibc
import SystemCalls
import WorkerProtocol

/// The channel to the supervisor. Every thread may send, because each message is a single packet.
struct SupervisorChannel: Sendable {
    let channel: WorkerChannel

    /// Returns false when the message can't be sent.
    @discardableResult
    func send(_ message: FleetMessage) -> Bool {
        do {
            try channel.send(message)
            return true
        } catch let error as WorkerChannelError {
            say("\(error)")
        } catch {
            // The supervisor has exited. The receiving loop sees the closed socket, and ends this process.
        }
        return false
    }

    func say(_ text: String) {
        let line = Array("pipelined-fleet: \(text.printable)\n".utf8)
        _ = Glibc.write(2, line, line.count)
    }
}
