import Dispatch
import Glibc
import SystemCalls

/// Listens at the control socket. Lives on a queue of its own, so that it answers whatever else is busy.
///
/// `@unchecked`: all state is touched on `queue` alone.
final class ControlServer: @unchecked Sendable {
    let queue = DispatchQueue(label: "pipelined.control")
    private let service: ControlService
    private var listener: Descriptor?
    private var source: (any DispatchSourceRead)?
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    private let path: String

    init(path: String, service: ControlService) {
        self.path = path
        self.service = service
    }

    func begin() throws {
        let listener = try Socket.listen(path)
        // Who may connect may act: the socket's mode and group are the lock.
        chmod(path, 0o660)
        try listener.setNonblocking()
        let source = DispatchSource.makeReadSource(fileDescriptor: listener.number, queue: queue)
        source.setEventHandler { [unowned self] in acceptAll() }
        source.setCancelHandler { withExtendedLifetime(listener) {} }
        source.activate()
        self.listener = listener
        self.source = source
    }

    func stop() {
        queue.sync {
            source?.cancel()
            listener = nil
            unlink(path)
        }
    }

    /// Events have been committed: those who follow them are to look.
    func tellFollowers() {
        queue.async { [self] in for connection in connections.values { connection.pump() } }
    }

    /// Too many descriptors are open, most likely: those who wait are accepted later, not asked for at once again and again.
    private func rest(_ error: any Error) {
        Log.failure("the control socket takes no connection for a second: \(error)")
        source?.suspend()
        queue.asyncAfter(deadline: .now() + .seconds(1)) { [self] in source?.resume() }
    }

    private func acceptAll() {
        while let listener {
            let accepted: Descriptor?
            do {
                accepted = try Socket.accept(listener)
            } catch {
                return rest(error)
            }
            guard let socket = accepted else { return }
            let connection = ControlConnection(socket, queue: queue, service: service) { [unowned self] connection in
                connections[ObjectIdentifier(connection)] = nil
            }
            connections[ObjectIdentifier(connection)] = connection
            connection.begin()
        }
    }
}
