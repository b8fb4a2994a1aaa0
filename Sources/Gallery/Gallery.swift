import DaemonRuntime
import Dispatch
import Glibc
import PipelineControl
import SystemCalls

/// Puts the parts together: each server has a socket that listens, and a site.
final class Gallery {
    private let servers: [HTTPServer]
    private let signals: [any DispatchSourceSignal]

    /// Listens at what systemd has passed, or else at `gallery.sock` beside the control socket.
    init(_ arguments: Arguments) throws {
        let control = SocketAddress(
            socket: arguments.socket, root: arguments.root, instance: arguments.instance,
            variable: getenv(SocketAddress.variable).map { String(cString: $0) })
        // All parts have one loop.
        let executor = QueueExecutor("pipelined-gallery")
        let calls = ControlCalls(path: control.path, on: executor)
        let monitor = MonitorSite(calls: calls)
        let (events, previews) = (EventHub(calls, on: executor), PreviewDesk(calls, on: executor))
        let hosts = Guard.loopback.union(arguments.hosts)
        let site = { door, login in
            GallerySite(
                calls: calls, events: events, previews: previews, monitor: monitor, limits: arguments.siteLimits,
                guardian: Guard(hosts: hosts, door: door), login: login)
        }
        let passed = try PassedSocket.all()
        for socket in passed where !socket.listens() {
            throw PassedSocketError("what was passed as '\(socket.name)' is not a stream socket that listens")
        }
        var listeners: [(name: String, socket: Descriptor, site: any HTTPSite)] = []
        var login: (@Sendable () -> String?)?
        // Every user of the machine reaches a port: the page there has a lock of its own.
        let open = { (listener: Descriptor, place: InternetAddress) in
            let door = Door(port: place.port)
            login = { "http://\(place)/?code=\(door.makeCode())" }
            listeners.append(("http://\(place)", listener, site(door, nil)))
        }
        if let address = arguments.listen {
            let listener = try address.listen()
            open(listener, InternetAddress(of: listener) ?? address)
        }
        let ports = passed.filter { !$0.listens(family: AF_UNIX) && $0.name != "metrics" }
        for socket in ports {
            guard let place = InternetAddress(of: socket.descriptor), place.isLoopback else {
                throw PassedSocketError(
                    "'\(socket.name)' listens beyond this machine; the page is served at 127.0.0.1 or [::1] alone, and the "
                        + "figures at a socket that is named metrics")
            }
            open(socket.descriptor, place)
        }
        for socket in passed where socket.listens(family: AF_UNIX) || socket.name == "metrics" {
            let isPage = socket.name != "metrics"
            listeners.append(("the socket \(socket.name)", socket.descriptor, isPage ? site(nil, login) : monitor))
        }
        if let address = arguments.metrics {
            let listener = try address.listen()
            listeners.append(("http://\(InternetAddress(of: listener) ?? address)", listener, monitor))
        }
        var own: String?
        if passed.isEmpty {
            let path = FileSystem.join(FileSystem.folder(of: control.path), "gallery.sock")
            listeners.insert((path, try Self.listen(path), site(nil, login)), at: 0)
            own = path
        }
        servers = try listeners.map { listener in
            let server = HTTPServer(listener.site, limits: arguments.limits, on: executor)
            try server.begin(at: listener.socket)
            return server
        }
        signals = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: executor.queue)
            source.setEventHandler {
                if let own { unlink(own) }
                exit(0)
            }
            source.activate()
            return source
        }
        let places = listeners.map(\.name).joined(separator: " and ")
        Log.notice(
            "pipelined-gallery \(Release.version) serves the daemon at \(control.path): at \(places)"
        )
        ServiceManager.tell("READY=1", "STATUS=serving at \(places)")
    }

    func run() -> Never { dispatchMain() }

    private static func listen(_ path: String) throws -> Descriptor {
        guard (try? Socket.connect(path)) == nil else { throw TakenError(path: path) }
        let listener = try Socket.listen(path)
        // Everybody who may connect may read: the socket's mode and group are the lock.
        chmod(path, 0o660)
        return listener
    }
}

/// Somebody else serves there.
private struct TakenError: Error, CustomStringConvertible {
    let path: String

    var description: String { "another pipelined-gallery serves at \(path)" }
}
