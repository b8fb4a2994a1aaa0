import CNats
import Foundation
import Synchronization
import WorkerProtocol

/// Keeps this node connected to one of the fleet's NATS servers. A separate thread connects, waits until the connection
/// is lost, and connects again.
final class Connector: Sendable {
    enum News: Sendable {
        case ready(Line)
        /// The server rejected a message of this node.
        case refusal(String)
        /// The reason why this node is not connected to any server.
        case problem(String)
    }

    private struct State {
        /// Index of the server to try first.
        var first = 0
        var isToLeave = false
    }

    private let membership: FleetMembership
    private let credentials: Credentials?
    private let tell: @Sendable (News) -> Void
    private let state = Mutex(State())
    /// Signalled when the connection is lost, or when `tryNext` asks for the next server.
    private let lost = DispatchSemaphore(value: 0)

    private static let pause = 1.0

    init(_ membership: FleetMembership, _ credentials: Credentials?, tell: @escaping @Sendable (News) -> Void) {
        (self.membership, self.credentials, self.tell) = (membership, credentials, tell)
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

    /// Switches to the next server, if the settings name several servers.
    func tryNext() {
        guard membership.servers.count > 1 else { return }
        state.withLock { $0.isToLeave = true }
        lost.signal()
    }

    /// Connects to the first server that accepts this node; returns nil if every server refuses.
    private func connect() -> Line? {
        var reasons: [String] = []
        let first = state.withLock { state in
            state.isToLeave = false
            return state.first
        }
        for server in membership.servers[first...] + membership.servers[..<first] {
            do throws(LineError) {
                let (lost, tell) = (lost, tell)
                return try Line(server, name: membership.name, credentials) { reason in
                    tell(.refusal("\(Self.shown(server)) rejects this node's messages: \(reason); \(Self.remedy)"))
                } lost: {
                    lost.signal()
                }
            } catch {
                reasons.append(ServerTrouble(error, at: server, credentials).description)
            }
        }
        tell(.problem(reasons.isEmpty ? "no server is named; name one in Servers=" : reasons.joined(separator: "; ")))
        return nil
    }

    private static let remedy = "join again with a file that this version of `pipectl fleet` has made"

    /// Reports that the line is ready. Blocks until the line is lost, or until `tryNext` asks for the next server.
    private func use(_ line: Line) {
        tell(.ready(line))
        while !line.isClosed, !state.withLock(\.isToLeave) { lost.wait() }
        if line.isClosed {
            tell(
                .problem("the connection to \(Self.shown(line.server)) is lost; trying again until a server answers")
            )
        } else {
            let index = membership.servers.firstIndex(of: line.server) ?? 0
            state.withLock { $0.first = (index + 1) % membership.servers.count }
            tell(.problem("no other node is connected to \(Self.shown(line.server)); trying the next server"))
        }
    }

    /// The server's URL without user and password.
    static func shown(_ server: String) -> String {
        guard let at = server.lastIndex(of: "@"), let scheme = server.range(of: "://") else { return server }
        return String(server[..<scheme.upperBound] + server[server.index(after: at)...])
    }
}
