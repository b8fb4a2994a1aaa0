import DaemonInterface
import Dispatch
import Glibc
import PipelineControl
import PipelineModel
package import ServiceProgram
import Synchronization
package import SystemCalls

/// Listens on the control socket. The server has its own queue, so that it accepts calls even while all other queues
/// are busy.
package actor ControlServer: QueueActor {
    /// Descriptors reserved for each client, including the descriptor of a file that is being copied for the client.
    private static let descriptorsPerClient = 8
    private static let mostDescriptors = 65536

    package nonisolated let executor = QueueExecutor("pipelined.control")
    /// A socket that accepts clients.
    private struct Door {
        var listener: Descriptor
        var source: ReadySource
        /// Nil if systemd made the socket.
        var path: String?
    }

    private let service: ControlService
    private var doors: [ControlRole: Door] = [:]
    /// The group for which the look socket was opened.
    private var lookGroup: String?
    private var connections: [ObjectIdentifier: ControlConnection] = [:] {
        didSet { hasClients.withLock { $0 = !connections.isEmpty } }
    }
    private nonisolated let hasClients = Mutex(false)
    /// Maximum number of clients. Clients may use half of the process's descriptors; the other half is reserved for
    /// pictures.
    private var room = Int.max
    private var isResting = false
    private let lookPath: String
    /// The listening socket that systemd passed, if any. systemd keeps the socket open while the daemon isn't running.
    private let passed: Descriptor?

    package init(lookPath: String, passed: Descriptor?, service: ControlService) {
        (self.lookPath, self.passed, self.service) = (lookPath, passed, service)
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
        let path = service.socket
        try open(.steer, passed ?? Socket.listen(path), at: passed == nil ? path : nil)
        // Every process that can connect may make every call. The socket's mode and group decide which users can
        // connect.
        if passed == nil { chmod(path, 0o660) }
        openLook()
    }

    private func open(_ role: ControlRole, _ listener: Descriptor, at path: String?) throws {
        try listener.setNonblocking()
        let source = ReadySource(listener, queue: queue)
        source.activate { [unowned self] in assumeIsolated { $0.acceptAll(role) } }
        doors[role] = Door(listener: listener, source: source, path: path)
    }

    private func close(_ role: ControlRole) {
        guard let door = doors.removeValue(forKey: role) else { return }
        door.source.cancel()
        if let path = door.path { unlink(path) }
    }

    /// Opens or closes the look socket if a reload has changed the settings.
    package nonisolated func adoptSettings() { async { $0.openLook() } }

    /// Opens the look socket for the group that `LookGroup=` names, if this machine has that group.
    private func openLook() {
        let wanted = service.limits.lookGroup
        guard wanted != lookGroup || doors[.look] == nil else { return }
        close(.look)
        lookGroup = wanted
        guard let wanted, let group = Group(named: wanted) else { return }
        do {
            let listener = try Socket.listen(lookPath)
            do throws(SystemError) { try AccessList.open(lookPath, toGroup: group.number) } catch {
                unlink(lookPath)
                throw error
            }
            try open(.look, listener, at: lookPath)
        } catch {
            Log.notice(
                "members of the group '\(wanted)' can't look at this daemon: \(error); put the folder on a file system with "
                    + "POSIX ACLs, or set LookGroup= in [Control]")
        }
    }

    /// Stops accepting clients. Calls `done` once all accepted clients have their answers, or after one second.
    package nonisolated func stop(_ done: @escaping @Sendable () -> Void) {
        async { server in
            for role in server.doors.keys { server.close(role) }
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
        guard hasClients.withLock({ $0 }) else { return }
        async { server in
            for connection in server.connections.values where connection.assumeIsolated({ $0.isStreaming }) {
                connection.pump()
            }
        }
    }

    private func acceptAll(_ role: ControlRole) {
        while let listener = doors[role]?.listener {
            let accepted: Descriptor?
            do {
                accepted = try Socket.accept(listener)
            } catch {
                return rest(role, error)
            }
            if isResting {
                isResting = false
                Log.notice("the control socket accepts connections again")
            }
            guard let socket = accepted else { return }
            if makeRoom() { admit(socket, role) } else { refuse(socket) }
        }
    }

    /// Stops accepting for a second after an error. The most likely error is that too many descriptors are open.
    /// Without the pause, the pending connections would cause the same error in a busy loop.
    private func rest(_ role: ControlRole, _ error: any Error) {
        if !isResting { Log.failure("the control socket accepts no connection: \(error); trying again every second") }
        isResting = true
        guard let source = doors[role]?.source else { return }
        source.suspend()
        after(.seconds(1)) { _ in source.resume() }
    }

    private func admit(_ socket: Descriptor, _ role: ControlRole) {
        let connection = ControlConnection(socket, role, on: executor, service: service) { [unowned self] connection in
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
                "\(most) clients of the control socket are busy, which is the maximum (MaxClients=); one is refused")
            return false
        }
        service.complain(
            .full,
            "\(most) clients of the control socket, which is the maximum (MaxClients=); \(idle.peer), idle longest, is closed"
        )
        idle.assumeIsolated { $0.close() }
        return true
    }

    /// Sends the client the reason of the refusal. The client receives the reason only if it reads before it writes, or
    /// reads despite a write error.
    private func refuse(_ socket: Descriptor) {
        let most = min(room, service.limits.maxClients)
        let error = ControlError.refused(
            "\(most) clients are busy, which is the maximum (MaxClients=); try again when one has finished"
        )
        _ = try? Socket.send(ControlRequest.frame(error), to: socket)
    }
}
