import CNats
import Foundation
import Synchronization
import WorkerProtocol

/// Keeps a line to one of the servers, on a thread of its own: connects, looks whether the engine is what is needed, and
/// waits for the line's end, for ever again.
final class Connector: Sendable {
    enum News: Sendable {
        /// The line is there, and the engine is good.
        case ready(Line)
        /// No line, or one that is not used, and why.
        case problem(String)
    }

    private let membership: FleetMembership
    private let certificates: Certificates?
    private let tell: @Sendable (News) -> Void
    /// Signalled when a line is lost.
    private let lost = DispatchSemaphore(value: 0)

    private static let pause = 1.0

    init(_ membership: FleetMembership, _ certificates: Certificates?, tell: @escaping @Sendable (News) -> Void) {
        (self.membership, self.certificates, self.tell) = (membership, certificates, tell)
    }

    func start() {
        Thread.detachNewThread { [self] in
            while true {
                if let line = connect() {
                    use(line)
                } else {
                    _ = lost.wait(timeout: .now() + Self.pause)
                }
            }
        }
    }

    /// Tries each server.
    private func connect() -> Line? {
        var reasons: [String] = []
        for server in membership.servers {
            do throws(LineError) {
                let lost = lost
                return try Line(server, name: membership.name, certificates) { lost.signal() }
            } catch {
                reasons.append(Self.reason(error, Self.shown(server), hasCertificates: certificates != nil))
            }
        }
        tell(.problem(reasons.isEmpty ? "no server is named; name one in Servers=" : reasons.joined(separator: "; ")))
        return nil
    }

    /// Returns when the line is gone.
    private func use(_ line: Line) {
        let engine = Engine(line: line)
        var isReady = false
        while !line.isClosed {
            if isReady {
                lost.wait()
                continue
            }
            do {
                try engine.check(
                    ackWait: .milliseconds(membership.ackWaitMilliseconds),
                    copies: membership.servers.count < 3 ? 1 : 3)
                tell(.ready(line))
                isReady = true
            } catch {
                guard !line.isClosed else { break }
                tell(.problem("\(Self.shown(line.server)): \(error)"))
                _ = lost.wait(timeout: .now() + Self.pause)
            }
        }
        tell(.problem("the line to \(Self.shown(line.server)) is lost; it is made again as soon as a server answers"))
    }

    /// Without what is secret in it.
    static func shown(_ server: String) -> String {
        guard let at = server.lastIndex(of: "@"), let scheme = server.range(of: "://") else { return server }
        return String(server[..<scheme.upperBound] + server[server.index(after: at)...])
    }

    private static func reason(_ error: LineError, _ server: String, hasCertificates: Bool) -> String {
        switch error.status {
        // With TLS 1.3 a server that refuses a certificate just hangs up.
        case NATS_IO_ERROR where hasCertificates, NATS_CONNECTION_CLOSED where hasCertificates:
            "\(server) does not answer, or hangs up: \(error); start it, or look into its log, whether it accepts this "
                + "node's certificate"
        case NATS_NO_SERVER, NATS_TIMEOUT, NATS_IO_ERROR:
            "no NATS server answers at \(server): \(error); start one there, or mend Servers="
        case NATS_SSL_ERROR where !hasCertificates:
            "\(server) wants TLS: \(error); name the certificate, its key and the authority"
        case NATS_SSL_ERROR:
            "\(server) and this node do not accept each other's certificates: \(error); both must be signed by the "
                + "authority, be valid now, and the server's must name its host"
        case NATS_SECURE_CONNECTION_REQUIRED:
            "\(server) wants TLS; name the certificate, its key and the authority"
        case NATS_SECURE_CONNECTION_WANTED:
            "\(server) has no TLS, which is wanted here; give it certificates, or name none here"
        case NATS_CONNECTION_AUTH_FAILED: "\(server) refuses this node: \(error); look into the server's authorization"
        case NATS_PROTOCOL_ERROR, NATS_LINE_TOO_LONG:
            "what answers at \(server) is no NATS server: \(error); mend Servers="
        default:
            "\(server): \(error); look into the server's log"
                + (hasCertificates ? ", whether it accepts this node's certificate" : "")
        }
    }
}
