import CLinux
import DaemonRuntime
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import SystemCalls

/// A client's connection: its calls are answered one after the other, in the order they came.
///
/// What it holds is bounded: no more is read while a call waits for its turn, and no call has its turn while there is
/// much to be sent. A client that pipelines without reading the answers holds up itself alone.
actor ControlConnection: QueueActor {
    /// The next step of a stream.
    enum Step: Sendable {
        case frame([UInt8])
        case last([UInt8])
        /// Nothing now; `pump` asks again.
        case nothing
    }

    /// No call takes so many descriptors: a client that has passed them has to wait until they are taken.
    private static let mostDescriptors = 4

    /// The server's.
    nonisolated let executor: QueueExecutor
    /// For the log: who is at the other end.
    nonisolated let peer: String
    /// Until it is closed: whoever still has an answer to give holds the connection, and must not hold the descriptor.
    private var socket: Descriptor?
    private let service: ControlService
    private let over: @Sendable (ControlConnection) -> Void
    private let reading: ReadySource
    /// It is suspended: no more is to be held.
    private var isFull = false
    /// There while the socket takes no more.
    private var writing: ReadySource?
    private var received = FrameBuffer()
    private var passing = PassingDescriptors()
    private var outgoing: [UInt8] = []
    /// How many bytes have gone, in all.
    private var sent = 0
    /// Descriptors that go with the byte of this number.
    private var leaving: [(at: Int, descriptors: [Descriptor])] = []
    private(set) var lastActive = DispatchTime.now()
    private var watchesForStall = false
    private var watchesForHangUp = false
    /// A call has been taken, and not been answered to its end.
    private var isBusy = false
    private var hasAnswered = false
    /// The client says no more.
    private var hasEnded = false
    private var producer: (() -> Step)?
    private var abandoned: (() -> Void)?
    private var isPumping = false
    private var closings: [@Sendable () -> Void] = []

    /// `over` is called when it is closed, and nobody works for it any more.
    init(
        _ socket: Descriptor, on executor: QueueExecutor, service: ControlService,
        over: @escaping @Sendable (ControlConnection) -> Void
    ) {
        (self.socket, self.executor, self.service, self.over) = (socket, executor, service, over)
        var user: uid_t = 0
        var process: pid_t = 0
        peer = clinux_peer(socket.number, &user, &process) == 0 ? "user \(user), process \(process)" : "somebody"
        reading = ReadySource(socket, queue: executor.queue)
    }

    func begin() {
        reading.activate { [weak self] in self?.assumeIsolated { $0.receive() } }
    }

    private var limits: ControlSettings { service.limits }

    /// Nothing of it is being done, or waits to be sent.
    var isIdle: Bool { socket != nil && !isBusy && outgoing.isEmpty }
    /// Nobody at the other end waits for an answer that will come soon.
    var isAnswered: Bool { socket == nil || isStreaming || isIdle && hasAnswered }

    // MARK: - Reading

    private func receive() {
        guard let socket, !isFull, !hasEnded else { return }
        do {
            let packet = try Socket.receive(room: 64 * 1024, from: socket)
            guard !packet.bytes.isEmpty else { return end() }
            lastActive = .now()
            received.append(packet.bytes)
            passing.append(packet, end: received.taken + received.count)
            next()
            // Until nothing is left: an end that came together with data is no event of its own.
            async { $0.receive() }
        } catch {
            if error.code != EAGAIN { close() }
        }
    }

    /// Calls that came before the end are still answered, unless nobody reads the answers any more.
    private func end() {
        guard let socket else { return }
        hasEnded = true
        stopReading()
        if socket.hasHungUp { return close() }
        watchForHangUp()
        next()
    }

    /// Takes the next whole call, if the one before has been answered.
    private func next() {
        guard socket != nil else { return }
        if !isBusy, outgoing.count < limits.maxUnread, let frame = received.next() {
            take(Array(frame), passing.take(upTo: received.taken))
        }
        if hasEnded, isIdle, !received.hasFrame() { return close() }
        balance()
    }

    private func take(_ frame: [UInt8], _ passed: PassedDescriptors) {
        guard frame.count <= limits.maxCall else { return closeAsTooLong() }
        guard let head = try? Wire.decode(WireCallHead.self, frame) else {
            service.complain(.nonsense, "\(peer): what it sent to the control socket is no Varlink call; closed")
            return close()
        }
        isBusy = true
        service.answer(ControlRequest(head: head, frame: frame, connection: self), passed)
    }

    /// Reads on, or not: never more than is needed to have the next call ready.
    private func balance() {
        guard socket != nil, !hasEnded else { return }
        let (isLong, isHeavy) = (received.count > limits.maxCall, passing.count > Self.mostDescriptors)
        if isLong || isHeavy, !received.hasFrame() {
            if isLong { return closeAsTooLong() }
            service.complain(.excess, "\(peer): more descriptors than any call on the control socket takes; closed")
            return close()
        }
        let mustWait = isLong || isHeavy || outgoing.count >= limits.maxUnread
        guard mustWait != isFull else { return }
        isFull = mustWait
        if mustWait {
            reading.suspend()
            watchForHangUp()
        } else {
            reading.resume()
            async { $0.receive() }
        }
    }

    private func closeAsTooLong() {
        service.complain(
            .excess,
            "\(peer): a call of more than \(limits.maxCall) bytes on the control socket (MaxCall=); closed")
        close()
    }

    private func stopReading() {
        reading.cancel()
        isFull = false
    }

    /// While nothing is read, the end of the other side does not show itself.
    private func watchForHangUp() {
        guard !watchesForHangUp else { return }
        watchesForHangUp = true
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.assumeIsolated { $0.lookForHangUp() } }
    }

    private func lookForHangUp() {
        watchesForHangUp = false
        guard let socket, isFull || hasEnded else { return }
        if socket.hasHungUp { close() } else { watchForHangUp() }
    }

    // MARK: - Answering, from any queue

    /// A part of the answer; the `last` one ends it. Descriptors go beside its first byte.
    nonisolated func send(_ frame: [UInt8], _ descriptors: [Descriptor] = [], last: Bool) {
        async { connection in
            connection.enqueue(frame, descriptors)
            if last { connection.finish() }
        }
    }

    nonisolated func finishWithoutReply() { async { $0.finish() } }

    /// Answers with a stream, until its last step, or until the call is answered otherwise: `produce` is asked whenever
    /// there is room, and keeps in `state` how far it is. `abandoned` is called when the client goes away before.
    nonisolated func follow<State: Sendable>(
        _ state: State, _ produce: @escaping @Sendable (inout State) -> Step,
        abandoned: @escaping @Sendable () -> Void = {}
    ) {
        async { connection in
            var state = state
            connection.follow({ produce(&state) }, abandoned)
        }
    }

    private func follow(_ produce: @escaping () -> Step, _ abandoned: @escaping () -> Void) {
        guard socket != nil else {
            abandoned()
            return finish()
        }
        producer = produce
        self.abandoned = abandoned
        pump()
    }

    /// There may be more to say. It takes one step a turn: other clients have theirs in between.
    nonisolated func pump() {
        async { connection in
            guard connection.producer != nil, !connection.isPumping else { return }
            connection.isPumping = true
            connection.async { $0.step() }
        }
    }

    var isStreaming: Bool { producer != nil }

    // MARK: - Sending

    private func step() {
        isPumping = false
        guard let producer, socket != nil, outgoing.count < limits.maxUnread else { return }
        switch producer() {
        case .nothing: return
        case .frame(let frame):
            enqueue(frame)
            pump()
        case .last(let frame):
            enqueue(frame)
            finish()
        }
    }

    private func endStream() {
        producer = nil
        abandoned = nil
    }

    private func finish() {
        isBusy = false
        hasAnswered = true
        endStream()
        if socket == nil { return over(self) }
        // Not by calling itself: many calls may have arrived in one piece.
        async { $0.next() }
    }

    private func enqueue(_ frame: [UInt8], _ descriptors: [Descriptor] = []) {
        guard socket != nil else { return }
        if !descriptors.isEmpty { leaving.append((sent + outgoing.count, descriptors)) }
        outgoing += frame
        flush()
    }

    private func flush() {
        while !outgoing.isEmpty, let socket {
            do {
                // The kernel hands descriptors over with the first byte of a message.
                let beside = leaving.first.flatMap { $0.at == sent ? $0.descriptors : nil } ?? []
                let next = leaving.first { $0.at > sent }.map { $0.at - sent } ?? outgoing.count
                let count = try Socket.send(outgoing.prefix(next), descriptors: beside, to: socket)
                if !beside.isEmpty { leaving.removeFirst() }
                outgoing.removeFirst(count)
                sent += count
                lastActive = .now()
            } catch {
                guard error.code == EAGAIN else { return close() }
                waitForRoom()
                break
            }
        }
        if outgoing.isEmpty, let writing {
            writing.cancel()
            self.writing = nil
        }
        // There may be room again, for what streams and for what waits.
        if producer != nil { pump() }
        next()
    }

    private func waitForRoom() {
        watchForStall()
        guard writing == nil, let socket else { return }
        let source = ReadySource(socket, .writing, queue: queue)
        source.activate { [weak self] in self?.assumeIsolated { $0.flush() } }
        writing = source
    }

    /// A client that reads nothing for too long is dropped.
    private func watchForStall() {
        guard !watchesForStall else { return }
        watchesForStall = true
        let (before, timeout) = (sent, limits.stallTimeout)
        queue.asyncAfter(deadline: .now() + timeout.dispatch) { [weak self] in
            self?.assumeIsolated { $0.lookForStall(since: before, timeout) }
        }
    }

    private func lookForStall(since before: Int, _ timeout: Duration) {
        watchesForStall = false
        guard socket != nil, writing != nil else { return }
        guard sent == before else { return watchForStall() }
        service.complain(
            .stall,
            "\(peer): has read nothing of what waits for it on the control socket for \(timeout.text); closed")
        close()
    }

    /// Calls `body` if the client goes away before the call that is being answered is over.
    nonisolated func whenAbandoned(_ body: @escaping @Sendable () -> Void) {
        async { connection in
            if connection.socket == nil { body() } else { connection.abandoned = body }
        }
    }

    /// At once, when it is closed already.
    nonisolated func whenClosed(_ body: @escaping @Sendable () -> Void) {
        async { connection in
            if connection.socket == nil { body() } else { connection.closings.append(body) }
        }
    }

    func close() {
        guard socket != nil else { return }
        for body in closings { body() }
        closings = []
        stopReading()
        writing?.cancel()
        writing = nil
        socket = nil
        outgoing = []
        leaving = []
        received = FrameBuffer()
        passing = PassingDescriptors()
        abandoned?()
        if producer != nil { isBusy = false }
        endStream()
        if !isBusy { over(self) }
    }
}
