import CNats
import Foundation
import Glibc
import SystemCalls

/// Tells the user why a server can't be used, and how to fix that.
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
            return "\(shown) wants TLS; name Credentials= and Authority="
        case NATS_SECURE_CONNECTION_WANTED:
            return "\(shown) has no TLS, which is wanted here; give it a certificate, or name no Credentials= here"
        case NATS_CONNECTION_AUTH_FAILED:
            if let words = credentials?.trouble { return words }
            return credentials == nil
                ? "\(shown) wants to know who this node is; name Credentials= and Authority="
                : "\(shown) refuses this node: \(error); the node was removed from the fleet, or the server is another's: "
                    + "`pipectl fleet add` makes a new file to join with"
        default: break
        }
        if let words = Reach(of: server).words { return "\(shown): \(words)" }
        if let words = credentials?.trouble { return words }
        return switch error.status {
        case NATS_SSL_ERROR:
            "\(shown) shows a certificate that is not accepted here: \(error); the authority of this fleet must have "
                + "signed it, it must be valid now, and name the server's host"
        default: "\(shown): \(error); look into the server's log"
        }
    }
}

/// The outcome of a plain TCP connection to a server's port.
private enum Reach {
    case unknownHost(String)
    case refused
    case silent
    case other(String)
    case noServer
    case server

    private static let patience: Int32 = 2000

    init(of server: String) {
        guard let address = URLComponents(string: server), let host = address.host else {
            self = .other("it is no address; mend Servers=")
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

    private static func connect(_ address: addrinfo) -> Reach {
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

    private static func of(_ failure: Int32) -> Reach {
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
        case .unknownHost(let reason): "no host of that name is known (\(reason)); mend Servers=, or the name's entry"
        case .refused: "nothing listens at that port; start the NATS server there, or mend Servers="
        case .silent: "the host does not answer; look whether it runs, and whether a firewall is between"
        case .other(let reason): reason
        case .noServer: "what answers there is no NATS server; mend Servers="
        case .server: nil
        }
    }
}
