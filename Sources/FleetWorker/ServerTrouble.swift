import CNats
import Foundation
import Glibc
import SystemCalls

/// Explains to the user why a server can't be used, and how to fix that.
struct ServerTrouble: CustomStringConvertible {
    private let error: LineError
    private let server: String
    private let credentials: Credentials?

    init(_ error: LineError, at server: String, _ credentials: Credentials?) {
        (self.error, self.server, self.credentials) = (error, server, credentials)
    }

    var description: String {
        let shown = Connector.shown(server)
        switch error.status {
        case NATS_SSL_ERROR where credentials == nil, NATS_SECURE_CONNECTION_REQUIRED:
            return "\(shown) requires TLS; set Credentials= and Authority="
        case NATS_SECURE_CONNECTION_WANTED:
            return "\(shown) has no TLS, which is required here; give it a certificate, or remove Credentials= here"
        case NATS_CONNECTION_AUTH_FAILED:
            if let words = credentials?.trouble { return words }
            return credentials == nil
                ? "\(shown) requires credentials; set Credentials= and Authority="
                : "\(shown) refuses this node: \(error); the node was removed from the fleet, or the server belongs to another fleet: "
                    + "`pipectl fleet add` makes a new file to join with"
        default: break
        }
        if let words = PortProbe(of: server).words { return "\(shown): \(words)" }
        if let words = credentials?.trouble { return words }
        return switch error.status {
        case NATS_SSL_ERROR:
            "\(shown) has a certificate that is not accepted here: \(error); the authority of this fleet must have "
                + "signed it, it must be valid now, and name the server's host"
        default: "\(shown): \(error); check the server's log"
        }
    }
}

/// The outcome of a plain TCP connection to a server's port.
private enum PortProbe {
    case unknownHost(String)
    case refused
    case silent
    case other(String)
    case noServer
    case server

    private static let patience: Int32 = 2000

    init(of server: String) {
        guard let address = URLComponents(string: server), let host = address.host else {
            self = .other("it is not an address; correct Servers=")
            return
        }
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, "\(address.port ?? 4222)", &hints, &found)
        guard status == 0, let first = found else {
            self = .unknownHost(gai_strerror(status).map { String(cString: $0) } ?? "\(status)")
            return
        }
        defer { freeaddrinfo(found) }
        self = .refused
        for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
            self = Self.connect(entry.pointee)
            if case .server = self { return }
        }
    }

    private static func connect(_ address: addrinfo) -> PortProbe {
        let number = socket(address.ai_family, Int32(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC, 0)
        guard number >= 0 else { return .other("\(SystemError("make", "a socket"))") }
        let descriptor = Descriptor(owning: number)
        if Glibc.connect(number, address.ai_addr, address.ai_addrlen) != 0, errno != EINPROGRESS { return of(errno) }
        guard waits(descriptor, POLLOUT) else { return .silent }
        var (failure, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(number, SOL_SOCKET, SO_ERROR, &failure, &length)
        guard failure == 0 else { return of(failure) }
        // A NATS server sends a greeting first; most other servers wait for a request.
        guard waits(descriptor, POLLIN) else { return .noServer }
        var greeting = [UInt8](repeating: 0, count: 5)
        let got = recv(number, &greeting, greeting.count, 0)
        return got == greeting.count && greeting == Array("INFO ".utf8) ? .server : .noServer
    }

    private static func of(_ failure: Int32) -> PortProbe {
        switch failure {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .silent
        default: .other(String(cString: strerror(failure)))
        }
    }

    private static func waits(_ descriptor: Descriptor, _ events: Int32) -> Bool {
        var entry = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
        return uninterrupted { poll(&entry, 1, patience) } == 1
    }

    /// Describes the problem and its solution; nil if a NATS server answers.
    var words: String? {
        switch self {
        case .unknownHost(let reason): "there is no such host (\(reason)); correct Servers=, or the name's entry"
        case .refused: "nothing listens at that port; start the NATS server there, or correct Servers="
        case .silent: "the host does not answer; check that it is running, and that no firewall blocks it"
        case .other(let reason): reason
        case .noServer: "the server there is not a NATS server; correct Servers="
        case .server: nil
        }
    }
}
