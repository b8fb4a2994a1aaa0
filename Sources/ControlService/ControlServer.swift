import DaemonInterface
package import DaemonRuntime
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
package import SystemCalls

/// Listens on the control socket. The server has its own queue, so that it accepts calls even while all other queues
/// are busy.
package actor ControlServer: QueueActor {
    /// Descriptors reserved for each client, including the descriptor of a file that is being copied for the client.
    private static let descriptorsPerClient = 8
    private static let mostDescriptors = 65536

    package nonisolated let executor = QueueExecutor("pipelined.control")
    private let service: ControlService
    private var listener: Descriptor?
    private var source: ReadySource?
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    /// Maximum number of clients that the descriptor limit allows, because half of the descriptors are reserved for
    /// pictures.
    private var room = Int.max
    private var isResting = false
    private let path: String
    /// The listening socket if systemd passed it; systemd keeps it open while the daemon does not run.
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
        // Every process that can connect may make every call. The socket's mode and group decide which users can
        // connect.
        chmod(path, 0o660)
        return listener
    }

    /// Stops accepting clients. Calls `done` once all accepted clients have their answers, but after one second at the
    /// latest.
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

    /// Wakes the streaming clients after new events are committed.
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

    /// Suspends accepting for a second after an error, most likely because too many descriptors are open. Without the
    /// pause, the pending connections would cause the same error in a busy loop.
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

    /// If the maximum number of clients is reached, closes the connection that has been idle longest. Returns false if
    /// no connection is idle.
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

    /// Sends the reason of the refusal. The client receives it only if it reads before it writes, or reads despite a
    /// write error.
    private func refuse(_ socket: Descriptor) {
        let most = min(room, service.limits.maxClients)
        let error = ControlError.refused(
            "\(most) clients are at work, which is the most that the daemon takes (MaxClients=); try again when one has ended"
        )
        _ = try? Socket.send(ControlRequest.frame(error), to: socket)
    }
}
