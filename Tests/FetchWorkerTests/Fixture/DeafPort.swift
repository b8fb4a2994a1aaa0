import SystemCalls
import TestTools

/// A port on loopback that neither accepts nor refuses connections, because its backlog is full.
final class DeafPort {
    private let sockets: [Descriptor]
    let url: String

    init() throws {
        let listener = try Loopback.listen(waiting: 0)
        let port = try Loopback.port(of: listener)
        sockets = [listener] + (try (1...4).map { _ in try Loopback.knock(at: port) })
        url = "http://127.0.0.1:\(port)/"
    }
}
