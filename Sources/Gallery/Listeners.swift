import Glibc
import ServiceProgram
import SystemCalls

/// The sockets at which the gallery listens, each with its site. Without sockets from systemd, the gallery creates
/// `gallery.sock` beside the control socket. In either case, it also listens at the command line's ports.
struct Listeners {
    struct Listener {
        let name: String
        let socket: Descriptor
        let site: any HTTPSite
    }

    /// Makes a URL with a login code.
    typealias Login = @Sendable () -> String?

    private(set) var all: [Listener] = []
    /// The path of the Unix socket that this program has created. The program removes it when it exits.
    private(set) var own: String?
    private var login: Login?
    private let page: (Door?, Login?) -> GallerySite
    private let monitor: MonitorSite
    private let control: String

    init(
        _ arguments: Arguments, beside control: String, page: @escaping (Door?, Login?) -> GallerySite,
        monitor: MonitorSite
    ) throws {
        (self.page, self.monitor, self.control) = (page, monitor, control)
        let passed = try PassedSocket.all()
        for socket in passed where !socket.listens() {
            throw PassedSocketError("the socket passed as '\(socket.name)' is not a listening stream socket")
        }
        // Ports are opened first, because the page at a Unix socket hands out login URLs for a port.
        if let address = arguments.listen { try add(port: address.listen(), at: address) }
        for socket in passed where !socket.listens(family: AF_UNIX) && !socket.isMonitors { try add(port: socket) }
        for socket in passed where socket.listens(family: AF_UNIX) || socket.isMonitors {
            add("the socket \(socket.name)", socket.descriptor, socket.isMonitors ? monitor : page(nil, login))
        }
        if let address = arguments.metrics {
            let socket = try address.listen()
            add("http://\(InternetAddress(of: socket) ?? address)", socket, monitor)
        }
        if passed.isEmpty { try addOwn(FileSystem.join(FileSystem.folder(of: control), "gallery.sock")) }
    }

    private mutating func add(_ name: String, _ socket: Descriptor, _ site: any HTTPSite) {
        all.append(Listener(name: name, socket: socket, site: site))
    }

    private mutating func add(port socket: PassedSocket) throws {
        guard let place = InternetAddress(of: socket.descriptor), place.isLoopback else {
            throw PassedSocketError(
                "'\(socket.name)' listens beyond this machine; the page is served only at 127.0.0.1 or [::1], and the "
                    + "metrics at a socket named metrics")
        }
        add(port: socket.descriptor, at: place)
    }

    /// Every user of the machine can reach a port, so the page there requires a login.
    private mutating func add(port socket: Descriptor, at address: InternetAddress) {
        let place = InternetAddress(of: socket) ?? address
        let door = Door(port: place.port, file: SessionFile(port: place.port, beside: control))
        login = { "http://\(place)/?code=\(door.makeCode())" }
        add("http://\(place)", socket, page(door, nil))
    }

    private mutating func addOwn(_ path: String) throws {
        guard (try? Socket.connect(path)) == nil else { throw TakenError(path: path) }
        let socket: Descriptor
        do throws(SystemError) { socket = try Socket.listen(path) } catch {
            throw error.isMissing ? NoDaemonError(folder: FileSystem.folder(of: path)) : error
        }
        // Any client that can connect may do everything. Only the socket's mode and group restrict access.
        chmod(path, 0o660)
        all.insert(Listener(name: path, socket: socket, site: page(nil, login)), at: 0)
        own = path
    }
}

extension PassedSocket {
    /// Whether the socket serves only `/metrics` and `/healthz`, for monitoring systems.
    fileprivate var isMonitors: Bool { name == "metrics" }
}

/// Thrown if the folder of the daemon's socket does not exist.
private struct NoDaemonError: Error, CustomStringConvertible {
    let folder: String

    var description: String {
        "no daemon has started: there is no folder \(folder); start pipelined, or name the root of one that you run yourself: "
            + "`pipelined-gallery --root DIR`"
    }
}

/// Thrown if another gallery already serves this socket.
private struct TakenError: Error, CustomStringConvertible {
    let path: String

    var description: String { "another pipelined-gallery serves at \(path)" }
}
