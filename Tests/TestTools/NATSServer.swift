import Foundation
public import Glibc
import SystemCalls
import Testing

/// A real server of a fleet, on a loopback port of its own choice, with its certificates in a folder.
public final class NATSServer {
    public struct Options {
        public var tls = false
        /// More lines of its configuration.
        public var more = ""
        fileprivate var cluster: Cluster?

        public init(tls: Bool = false, more: String = "") { (self.tls, self.more) = (tls, more) }
    }

    /// A server's place among others.
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

    /// `./run test` gets one, and says where it is.
    public static let program = ProcessInfo.processInfo.environment["PIPELINED_NATS_SERVER"]
    /// One that is newer than Debian's. `./run test --all` gets it.
    public static let newProgram = ProcessInfo.processInfo.environment["PIPELINED_NEW_NATS_SERVER"]

    public let folder: String
    public let port: Int
    private let options: Options
    private var process: ChildProcess

    public var url: String { "\(options.tls ? "tls" : "nats")://127.0.0.1:\(port)" }

    public init(in folder: String, _ options: Options = Options()) async throws {
        (self.folder, self.options) = (folder, options)
        (process, port) = try await Self.start(Self.program, folder, options, port: -1)
    }

    /// Servers that are one cluster, each with a folder of its own.
    public static func cluster(of count: Int, in folder: String) async throws -> [NATSServer] {
        // Nobody else gets a port before its server does.
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

    /// At the same port; it may be upgraded to the new one.
    public func restart(upgraded: Bool = false) async throws {
        process = try await Self.start(upgraded ? Self.newProgram : Self.program, folder, options, port: port).0
    }

    private static func start(
        _ program: String?, _ folder: String, _ options: Options, port: Int
    ) async throws -> (ChildProcess, Int) {
        var lines = ["listen: \"127.0.0.1:\(port)\"", "ports_file_dir: \"\(folder)\""]
        lines += [options.more] + (options.cluster?.lines ?? [])
        if options.tls {
            lines.append("tls { cert_file: \"\(folder)/server.pem\", key_file: \"\(folder)/server.key\"")
            lines.append("ca_file: \"\(folder)/authority.pem\", verify: true }")
        }
        let settings = "\(folder)/server.conf"
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

    /// Two authorities, of which the second is a stranger's, and what each has signed for a server and a node.
    public static func certificates(in folder: String) throws {
        let make = """
            set -e
            cd "$1"
            authority() {
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" \
                    -days 2 -subj "/CN=$1"
            }
            sign() {
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$2.key" -out "$2.csr" \
                    -subj "/CN=$2" -addext "subjectAltName=$3"
                openssl x509 -req -in "$2.csr" -CA "$1.pem" -CAkey "$1.key" -CAcreateserial -out "$2.pem" -days 2 \
                    -copy_extensions copyall
            }
            authority authority
            authority stranger
            : >index.txt
            sign authority server "IP:127.0.0.1"
            sign authority elsewhere "DNS:elsewhere.example,IP:127.0.0.9"
            sign authority node "DNS:node"
            sign stranger other "DNS:other"
            # In another year.
            for year in old=2001 future=2099; do
                cp node.key "${year%=*}.key"
                openssl ca -batch -notext -config <(printf '%s\n' [ca] default_ca=x [x] database=index.txt serial=serial \
                    new_certs_dir=. policy=p default_md=sha256 unique_subject=no [p] commonName=supplied) -create_serial -in node.csr -out "${year%=*}.pem" \
                    -cert authority.pem -keyfile authority.key -startdate "${year#*=}0101000000Z" -enddate "${year#*=}1231000000Z"
            done
            """
        let outcome = try ChildProcess("/bin/bash", ["-c", make, "bash", folder]).wait()
        guard outcome.status == 0 else { throw DoesNotServe(description: "no certificates: \(outcome.errors)") }
    }
}

private struct DoesNotServe: Error, CustomStringConvertible {
    let description: String
}
