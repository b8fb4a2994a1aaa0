package import DaemonRuntime
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
package import SystemCalls
import WorkerPools

/// Listens at the control socket. It has its own queue, so that it answers even if everything else is busy.
package actor ControlServer: QueueActor {
    /// Descriptors that a client may hold, including one for a copy that is being made for it.
    private static let descriptorsPerClient = 8
    private static let mostDescriptors = 65536

    package nonisolated let executor = QueueExecutor("pipelined.control")
    private let service: ControlService
    private var listener: Descriptor?
    private var source: ReadySource?
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Number of clients for which there are descriptors, if half of all are left for pictures.
    private var room = Int.max
    private var isResting = false
    private let path: String
    /// The listening socket, if systemd holds it before the daemon begins and after it has ended.
    private let passed: Descriptor?

    package init(path: String, passed: Descriptor?, service: ControlService) {
        (self.path, self.passed, self.service) = (path, passed, service)
    }

    package nonisolated func begin() throws { try queue.sync { try assumeIsolated { try $0.open() } } }

    private func open() throws {
        let descriptors = OpenFiles.raiseLimit(to: Self.mostDescriptors)
        room = max(1, descriptors / 2 / Self.descriptorsPerClient)
        let wanted = service.limits.maxClients
        if room < wanted {
            Log.failure(
                "this process may have \(descriptors) files open, enough for \(room) clients of the control socket, not for "
                    + "MaxClients=\(wanted)",
                advice: "raise LimitNOFILE= (ulimit -n) to "
                    + "\(wanted * 2 * Self.descriptorsPerClient)")
        }
        let listener = try passed ?? listen()
        try listener.setNonblocking()
        let source = ReadySource(listener, queue: queue)
        source.activate { [unowned self] in assumeIsolated { $0.acceptAll() } }
        self.listener = listener
        self.source = source
    }

    private func listen() throws -> Descriptor {
        let listener = try Socket.listen(path)
        // Everybody who can connect may give orders; the socket's mode and group decide who can.
        chmod(path, 0o660)
        return listener
    }

    /// Accepts no more clients. Calls `done` once the accepted ones have their answers, after a second at most.
    package nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        async { server in
            server.source?.cancel()
            server.listener = nil
            if server.passed == nil { unlink(server.path) }
            server.awaitAnswers(until: .now() + .seconds(1), done)
        }
    }

    private func awaitAnswers(until end: DispatchTime, _ done: @escaping @Sendable () -> Void) {
        let areAnswered = connections.values.allSatisfy { connection in connection.assumeIsolated { $0.isAnswered } }
        if areAnswered || DispatchTime.now() > end { return done() }
        after(.milliseconds(5)) { $0.awaitAnswers(until: end, done) }
    }

    /// Wakes the clients that follow events, because some have been committed.
    package nonisolated func tellFollowers() {
        async { server in
            for connection in server.connections.values where connection.assumeIsolated({ $0.isStreaming }) {
                connection.pump()
            }
        }
    }

    private func acceptAll() {
        while let listener {
            let accepted: Descriptor?
            do {
                accepted = try Socket.accept(listener)
            } catch {
                return rest(error)
            }
            if isResting {
                isResting = false
                Log.notice("the control socket takes connections again")
            }
            guard let socket = accepted else { return }
            if makeRoom() { admit(socket) } else { refuse(socket) }
        }
    }

    /// Suspends accepting, most likely because too many descriptors are open. Without a pause, the waiting clients
    /// would cause the same error at once, again and again.
    private func rest(_ error: any Error) {
        if !isResting { Log.failure("the control socket takes no connection: \(error); trying again every second") }
        isResting = true
        source?.suspend()
        after(.seconds(1)) { $0.source?.resume() }
    }

    private func admit(_ socket: Descriptor) {
        let connection = ControlConnection(socket, on: executor, service: service) { [unowned self] connection in
            assumeIsolated { $0.connections[ObjectIdentifier(connection)] = nil }
        }
        connections[ObjectIdentifier(connection)] = connection
        connection.assumeIsolated { $0.begin() }
    }

    /// Closes the client that has been idle longest, if the maximum is reached. False if none is idle.
    private func makeRoom() -> Bool {
        let most = min(room, service.limits.maxClients)
        guard connections.count >= most else { return true }
        let idle = connections.values.compactMap { connection in
            connection.assumeIsolated { $0.isIdle ? $0.lastActive : nil }.map { (connection, since: $0) }
        }
        guard let (idle, _) = idle.min(by: { $0.since < $1.since }) else {
            service.complain(
                .full,
                "\(most) clients of the control socket are at work, which is the most (MaxClients=); one is refused")
            return false
        }
        service.complain(
            .full,
            "\(most) clients of the control socket, which is the most (MaxClients=); \(idle.peer), idle longest, is closed"
        )
        idle.assumeIsolated { $0.close() }
        return true
    }

    /// Tells the client why it is refused; it sees this if it reads before it writes, or despite an error.
    private func refuse(_ socket: Descriptor) {
        let most = min(room, service.limits.maxClients)
        let error = ControlError.refused(
            "\(most) clients are at work, which is the most that the daemon takes (MaxClients=); try again when one has ended"
        )
        _ = try? Socket.send(ControlRequest.frame(error), to: socket)
    }
}
