import CLinux
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

/// A client's connection. It answers calls one at a time, in the order of their arrival.
///
/// A connection's memory is bounded: the connection stops reading while more than `maxCall` bytes are buffered, and
/// starts no call while `maxUnread` bytes of output are unsent. A client that sends calls without reading the answers
/// delays only itself.
actor ControlConnection: QueueActor {
    /// The next step of a stream.
    enum Step: Sendable {
        case frame([UInt8])
        case last([UInt8])
        /// No data yet; the next `pump` asks the stream again.
        case nothing
    }

    /// Maximum number of received descriptors that no call has claimed; every call needs fewer. Above this limit, the
    /// connection stops reading from the client.
    private static let mostDescriptors = 4

    /// The server's executor.
    nonisolated let executor: QueueExecutor
    nonisolated let role: ControlRole
    private nonisolated let client: (user: uid_t, process: pid_t)?
    /// The client's user ID; root's ID if the kernel does not report the user.
    nonisolated var owner: Int { Int(client?.user ?? 0) }
    /// The client's user and process, for the log. The user's name is looked up when the first log line needs it.
    nonisolated var peer: String {
        guard let client else { return "somebody" }
        let name = userName.withLock { known in
            let name = known ?? User.name(client.user)
            known = name
            return name
        }
        return "user \(name), process \(client.process)"
    }
    private nonisolated let userName = Mutex<String?>(nil)
    /// Nil once the connection is closed. Pending answers may keep this object alive, but must not keep the descriptor
    /// open.
    private var socket: Descriptor?
    private let service: ControlService
    private let over: @Sendable (ControlConnection) -> Void
    private let reading: ReadySource
    /// Whether reading is suspended because a limit is reached.
    private var isFull = false
    /// Reports when the socket can be written again. Exists only while the socket's send buffer is full.
    private var writing: ReadySource?
    private var received = FrameBuffer()
    private var passing = PassingDescriptors()
    private var outgoing: [UInt8] = []
    /// Bytes sent so far.
    private var sent = 0
    /// Descriptors to send. Each group is sent with the byte at offset `at`, counted over all output of the connection.
    private var leaving: [(at: Int, descriptors: [Descriptor])] = []
    private(set) var lastActive = DispatchTime.now()
    private var watchesForStall = false
    private var watchesForHangUp = false
    /// Whether a call is in progress, that is, its answer is not complete.
    private var isBusy = false
    private var hasAnswered = false
    /// Whether the client has closed its side.
    private var hasEnded = false
    private var producer: (() -> Step)?
    private var abandoned: (() -> Void)?
    private var isPumping = false
    private var closings: [@Sendable () -> Void] = []

    /// Calls `over` once the connection is closed and no call is in progress.
    init(
        _ socket: Descriptor, _ role: ControlRole, on executor: QueueExecutor, service: ControlService,
        over: @escaping @Sendable (ControlConnection) -> Void
    ) {
        (self.socket, self.executor, self.service, self.over) = (socket, executor, service, over)
        self.role = role
        var user: uid_t = 0
        var process: pid_t = 0
        client = clinux_peer(socket.number, &user, &process) == 0 ? (user, process) : nil
        reading = ReadySource(socket, queue: executor.queue)
    }

    func begin() {
        reading.activate { [weak self] in self?.assumeIsolated { $0.receive() } }
    }

    private var limits: ControlSettings { service.limits }

    /// Whether no call is in progress and all output is sent.
    var isIdle: Bool { socket != nil && !isBusy && outgoing.isEmpty }
    /// Whether a stopping server need not wait for this connection. True if the connection is closed, is streaming, or
    /// is idle after an answered call.
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
            // Read until the socket is empty: EOF that arrives with data raises no separate event.
            async { $0.receive() }
        } catch {
            if error.code != EAGAIN { close() }
        }
    }

    /// Handles EOF. Calls that arrived before EOF are still answered, unless the client no longer reads.
    private func end() {
        guard let socket else { return }
        hasEnded = true
        stopReading()
        if socket.hasHungUp { return close() }
        watchForHangUp()
        next()
    }

    /// Starts the next complete call if the previous call is answered.
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
            return end(
                .nonsense, "its message to the control socket is not a Varlink call",
                .badValue("this is not a Varlink call: an object with \"method\", followed by a NUL byte"))
        }
        isBusy = true
        service.answer(ControlRequest(head: head, frame: frame, connection: self), passed)
    }

    /// Suspends reading while a limit is reached, and resumes it afterwards.
    private func balance() {
        guard socket != nil, !hasEnded else { return }
        let (isLong, isHeavy) = (received.count > limits.maxCall, passing.count > Self.mostDescriptors)
        // If an error arrived before the current call's answer, the client would mistake the error for that answer.
        if !isBusy, isLong || isHeavy, !received.hasFrame() {
            if isLong { return closeAsTooLong() }
            return end(
                .excess, "more descriptors than any call on the control socket takes",
                .badValue("a call may pass at most \(Self.mostDescriptors) file descriptors"))
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
        end(
            .excess, "a call of more than \(limits.maxCall) bytes on the control socket (MaxCall=)",
            .badValue("a call has at most \(limits.maxCall) bytes (MaxCall= in [Control])"))
    }

    /// Logs a complaint about the client, sends it the error, and closes the connection.
    private func end(_ kind: Complaints.Kind, _ complaint: String, _ error: ControlError) {
        service.complain(kind, "\(peer): \(complaint); closed")
        hasEnded = true
        stopReading()
        received = FrameBuffer()
        passing = PassingDescriptors()
        watchForHangUp()
        // Once the error has been sent, the connection closes.
        enqueue(ControlRequest.frame(error))
    }

    private func stopReading() {
        reading.cancel()
        isFull = false
    }

    /// No event reports a disconnect while reading is suspended or after EOF, so the connection polls the socket.
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

    /// Sends a part of the answer. If `last` is true, the part completes the call. The descriptors are sent with the
    /// first byte of the part.
    nonisolated func send(_ frame: [UInt8], _ descriptors: [Descriptor] = [], last: Bool) {
        async { connection in
            connection.enqueue(frame, descriptors)
            if last { connection.finish() }
        }
    }

    nonisolated func finishWithoutReply() { async { $0.finish() } }

    /// Answers the call with a stream: calls `produce` for the next step whenever the output buffer has room. `produce`
    /// keeps its position in `state`. The stream finishes with its last step, or with another answer to the call. Calls
    /// `abandoned` if the client disconnects first.
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

    /// Schedules the stream's next step. Each step runs separately on the queue, so that other clients are served in
    /// between.
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
        // Call `next` asynchronously, because the recursion could go deep if many calls have arrived together.
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
                // The kernel delivers descriptors with the first byte of a message.
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
        // The output buffer may have room again for the stream, and for the answers of waiting calls.
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

    /// Closes the connection if the client reads nothing for too long.
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

    /// Calls `body` if the client goes away before the current call is answered.
    nonisolated func whenAbandoned(_ body: @escaping @Sendable () -> Void) {
        async { connection in
            if connection.socket == nil { body() } else { connection.abandoned = body }
        }
    }

    /// Calls `body` when the connection closes, or immediately if the connection is already closed.
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
