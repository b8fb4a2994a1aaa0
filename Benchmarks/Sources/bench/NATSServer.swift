import Foundation
import FoundationNetworking
import Glibc

/// A fleet's server, and the files of its nodes, set up as docs/fleet.md says: every connection is TLS, and the server
/// syncs each message.
final class NATSServer {
    private let folder: String
    private let process: ChildProcess
    private let monitor: Int

    init(_ setup: Setup, in folder: String, nodes: [String]) throws {
        guard let program = setup.natsServer else { throw BenchError("begin it by ./run bench fleet") }
        self.folder = folder
        let port = try Self.freePort()
        monitor = try Self.freePort()
        try Folder.make(folder)
        _ = try ChildProcess.output([
            "\(setup.programs)/pipectl", "fleet", "init", "127.0.0.1:\(port)", nodes.joined(separator: ","), "--to",
            "\(folder)/fleet",
        ])
        let log = "\(folder)/log"
        let words = #"cd "$1"/fleet/127.0.0.1* && exec "$2" -c nats.conf -a 127.0.0.1 -m "$3""#
        process = try ChildProcess(["/bin/sh", "-c", words, "sh", folder, program, "\(monitor)"], streams: .log(log))
        Running.add(process.id)
        let begun = Clock.now
        while (try? String(contentsOfFile: log, encoding: .utf8))?.contains("Server is ready") != true {
            usleep(10_000)
            guard Clock.now - begun < 20 else {
                throw BenchError("the NATS server did not get ready:\n\(Folder.end(of: log))")
            }
        }
    }

    /// Returns the path of the file with which a node joins.
    func join(of node: String) -> String { "\(folder)/fleet/\(node).join" }

    var cpu: Double { ProcessTree.cpu(process.id) }

    /// Returns the number of bytes in all messages that the server has received.
    func received() throws -> Double {
        guard let address = URL(string: "http://127.0.0.1:\(monitor)/varz"),
            let told = try JSONSerialization.jsonObject(with: Data(contentsOf: address)) as? [String: Any],
            let bytes = told["in_bytes"] as? NSNumber
        else { throw BenchError("the NATS server does not say how many bytes it has received") }
        return bytes.doubleValue
    }

    func stop() {
        process.stop()
        Running.remove(process.id)
        Folder.putAside(folder, in: "\(folder)-aside")
    }

    private static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw BenchError("there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
