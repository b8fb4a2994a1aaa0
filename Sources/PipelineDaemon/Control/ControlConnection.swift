import CLinux
import Dispatch
import Glibc
import PipelineControl
import SystemCalls

/// A client's connection: its calls are answered one after the other, in the order they came.
///
/// `@unchecked`: all state is touched on the server's queue alone.
final class ControlConnection: @unchecked Sendable {
    /// A call is read up to this size; a longer one closes the connection.
    static let longestCall = 1024 * 1024
    /// While this much waits to be sent, a stream produces nothing more.
    static let fullBuffer = 256 * 1024

    let queue: DispatchQueue
    /// For the log: who is at the other end.
    let peer: String
    /// Until it is closed: whoever still has an answer to give holds the connection, and must not hold the descriptor.
    private var socket: Descriptor?
    private let service: ControlService
    private let closed: (ControlConnection) -> Void
    private let reading: any DispatchSourceRead
    /// There while the socket takes no more.
    private var writing: (any DispatchSourceWrite)?
    private var received: [UInt8] = []
    private var descriptors: [Descriptor] = []
    private var outgoing: [UInt8] = []
    private var busy = false
    private var isClosed = false
    private var ended = false
    /// Produces the next replies of a stream; false when there is nothing to send now.
    private var producer: (() -> Bool)?

    init(
        _ socket: Descriptor, queue: DispatchQueue, service: ControlService,
        closed: @escaping (ControlConnection) -> Void
    ) {
        self.socket = socket
        self.queue = queue
        self.service = service
        self.closed = closed
        var user: uid_t = 0
        var process: pid_t = 0
        peer = clinux_peer(socket.number, &user, &process) == 0 ? "user \(user), process \(process)" : "somebody"
        reading = DispatchSource.makeReadSource(fileDescriptor: socket.number, queue: queue)
    }

    func begin() {
        let keep = socket
        reading.setEventHandler { [weak self] in self?.receive() }
        reading.setCancelHandler { withExtendedLifetime(keep) {} }
        reading.activate()
    }

    private func receive() {
        guard let socket else { return }
        do {
            let packet = try Socket.receive(room: 64 * 1024, from: socket)
            descriptors += packet.descriptors
            guard !packet.bytes.isEmpty else {
                ended = true
                reading.cancel()
                // What was asked before the end is still answered, unless nobody reads it any more, or it would never end.
                if producer != nil || (!busy && outgoing.isEmpty) || socket.hasHungUp { close() }
                return
            }
            received += packet.bytes
            guard received.count <= Self.longestCall else {
                Log.failure("\(peer): a call of more than \(Self.longestCall) bytes on the control socket; closed")
                return close()
            }
            next()
        } catch  where error.code == EAGAIN {
            return
        } catch {
            close()
        }
    }

    /// Takes the next whole call, if the one before has been answered.
    private func next() {
        guard !busy, !isClosed, let end = received.firstIndex(of: Wire.terminator) else { return }
        let frame = Array(received[..<end])
        received.removeFirst(end + 1)
        busy = true
        let passed = descriptors
        descriptors = []
        guard let head = try? Wire.decode(WireCallHead.self, frame) else {
            Log.failure("\(peer): something that is no Varlink call on the control socket; closed")
            return close()
        }
        service.answer(ControlRequest(head: head, frame: frame, descriptors: passed, connection: self))
    }

    // MARK: - Answering, from any queue

    func send(_ frame: [UInt8], last: Bool) {
        queue.async { [self] in
            guard !isClosed else { return }
            outgoing += frame
            flush()
            if last { self.last() }
        }
    }

    func finishWithoutReply() {
        queue.async { self.last() }
    }

    /// A stream: `produce` is asked for more whenever there is room, and returns false when there is nothing now.
    func follow(_ produce: @escaping () -> Bool) {
        producer = produce
        pump()
    }

    /// On the server's queue.
    func enqueue(_ frame: [UInt8]) { outgoing += frame }

    func pump() {
        while let producer, !isClosed, outgoing.count < Self.fullBuffer, producer() {}
        flush()
    }

    /// The stream has ended with what was enqueued last.
    func unfollow() {
        producer = nil
        last()
    }

    private func last() {
        busy = false
        if ended, outgoing.isEmpty { return close() }
        // Not by calling itself: many calls may have arrived in one piece.
        queue.async { self.next() }
    }

    private func flush() {
        while !outgoing.isEmpty, let socket {
            do {
                let sent = try Socket.send(outgoing, to: socket)
                outgoing.removeFirst(sent)
            } catch  where error.code == EAGAIN {
                return waitForRoom()
            } catch {
                return close()
            }
        }
        if let writing {
            writing.cancel()
            self.writing = nil
            if producer != nil { queue.async { self.pump() } }
        }
        if ended, !busy, outgoing.isEmpty { close() }
    }

    private func waitForRoom() {
        guard writing == nil, let socket else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: socket.number, queue: queue)
        source.setEventHandler { [weak self] in self?.flush() }
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        source.activate()
        writing = source
    }

    private func close() {
        guard !isClosed else { return }
        isClosed = true
        producer = nil
        outgoing = []
        reading.cancel()
        writing?.cancel()
        socket = nil
        closed(self)
    }
}
