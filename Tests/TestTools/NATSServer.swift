import Foundation
public import Glibc
import SystemCalls
import Testing

/// A real NATS server for a fleet, on a free loopback port.
public final class NATSServer {
    public struct Options {
        /// The folder that `pipectl fleet init` created for the server.
        public var made: String?
        /// Additional lines for the server's configuration.
        public var more = ""
        fileprivate var cluster: Cluster?

        public init(made: String? = nil, more: String = "") { (self.made, self.more) = (made, more) }
    }

    /// A server's number in a cluster, and the ports of all its servers.
    fileprivate struct Cluster {
        let number: Int
        let ports: [Int]

        var lines: [String] {
            let routes = ports.map { "\"nats-route://127.0.0.1:\($0)\"" }.joined(separator: ", ")
            return [
                "server_name: \"server-\(number)\"",
                "cluster { name: fleet, listen: \"127.0.0.1:\(ports[number])\", routes: [\(routes)], no_advertise: true }",
            ]
        }
    }

    /// The server's path, which `./run test` provides.
    public static let program = ProcessInfo.processInfo.environment["PIPELINED_NATS_SERVER"]
    /// The path of a server newer than Debian's, which `./run test --all` provides.
    public static let newProgram = ProcessInfo.processInfo.environment["PIPELINED_NEW_NATS_SERVER"]

    public let folder: String
    public let port: Int
    private let options: Options
    private var process: ChildProcess

    public var url: String { "\(options.made == nil ? "nats" : "tls")://127.0.0.1:\(port)" }

    public init(in folder: String, _ options: Options = Options()) async throws {
        (self.folder, self.options) = (folder, options)
        (process, port) = try await Self.start(Self.program, folder, options, port: -1)
    }

    /// Starts a cluster of `count` servers, each with its own folder.
    public static func cluster(of count: Int, in folder: String) async throws -> [NATSServer] {
        // These listeners reserve the ports until the servers start.
        var taken: [Descriptor?] = try (0..<count).map { _ in try Loopback.listen() }
        let ports = try taken.compactMap { try $0.map(Loopback.port) }
        var servers: [NATSServer] = []
        for number in 0..<count {
            var options = Options()
            options.cluster = Cluster(number: number, ports: ports)
            let place = "\(folder)/server-\(number)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            taken[number] = nil
            servers.append(try await NATSServer(in: place, options))
        }
        return servers
    }

    deinit { process.signal(SIGKILL) }

    public var identifier: Int32 { process.identifier }

    public func kill(_ signal: Int32 = SIGKILL) async {
        process.signal(signal)
        _ = await process.outcome()
    }

    /// Restarts the server on the same port, with the newer program if `upgraded`.
    public func restart(upgraded: Bool = false) async throws {
        process = try await Self.start(upgraded ? Self.newProgram : Self.program, folder, options, port: port).0
    }

    private static func start(
        _ program: String?, _ folder: String, _ options: Options, port: Int
    ) async throws -> (ChildProcess, Int) {
        var lines = ["listen: \"127.0.0.1:\(port)\"", "ports_file_dir: \"\(folder)\""]
        lines += [options.more] + (options.cluster?.lines ?? [])
        if let made = options.made {
            let text = try String(contentsOfFile: "\(made)/nats.conf", encoding: .utf8)
            lines.append(text.replacing("port: 4222\n", with: "").replacing(#"_file: ""#, with: #"_file: "\#(made)/"#))
        }
        let settings = "\(options.made ?? folder)/server.conf"
        try lines.joined(separator: "\n").write(toFile: settings, atomically: true, encoding: .utf8)
        let process = try ChildProcess(try #require(program), ["-c", settings])
        await process.until { process.errors.contains("Server is ready") || process.status != nil }
        guard process.status == nil else {
            throw DoesNotServe(description: "the server does not start: \(process.errors)")
        }
        guard port < 0 else { return (process, port) }
        let address = process.errors.split(separator: "client connections on 127.0.0.1:").last ?? ""
        return (process, try #require(Int(address.prefix { $0.isNumber })))
    }
}

/// The files that `pipectl fleet init` created for one server and some nodes.
public struct MadeFleet {
    private let folder: String
    private let host: String

    public init(in folder: String, at host: String = "127.0.0.1", _ nodes: String...) throws {
        (self.folder, self.host) = (folder, host)
        try run("init", host, nodes.joined(separator: ","), "--to", folder)
    }

    /// The server's folder.
    public var server: String { "\(folder)/\(host)" }

    public func change(_ words: String...) throws { try run(words + ["--in", folder]) }

    private func run(_ words: String...) throws { try run(words) }

    private func run(_ words: [String]) throws {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("pipectl").path
        let outcome = try ChildProcess(program, ["fleet"] + words).wait()
        guard outcome.status == 0 else { throw DoesNotServe(description: "no fleet: \(outcome.errors)") }
    }

    /// Returns a node's credentials, and the certificate authority that the node trusts.
    public func files(of node: String) throws -> [String] {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(node).join"))
        let words = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let credentials = "\(folder)/\(node).creds"
        try #require(words["credentials"] as? String).write(toFile: credentials, atomically: true, encoding: .utf8)
        return [credentials, "\(folder)/authority.pem"]
    }
}

private struct DoesNotServe: Error, CustomStringConvertible {
    let description: String
}
