import FoundationEssentials
import Glibc
import PipelineModel
import SystemCalls

/// Everything that a node needs to join its fleet, including its private key.
struct JoinFile: Codable {
    let name: String
    let servers: [String]
    /// The node's signed token and its key, in NATS's format.
    let credentials: String
    /// The authority's certificate, with which the node verifies the servers.
    let authority: String

    static let suffix = ".join"
    private static let longest = 256 << 10

    init(_ name: String, _ servers: [FleetServer], credentials: String, authority: String) {
        (self.name, self.servers) = (name, servers.map(\.address))
        (self.credentials, self.authority) = (credentials, authority)
    }

    /// Reads the file that `pipectl fleet init` has written.
    init(at path: String) throws(Failure) {
        let bytes: [UInt8]
        do throws(SystemError) {
            // Without O_NONBLOCK, opening a named pipe would block until another process opens it for writing.
            let file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
            guard FileStatus(try file.status()).kind == .file else { throw SystemError("read", path, code: EINVAL) }
            bytes = try FileSystem.read(file, most: Self.longest, called: path)
        } catch {
            throw Failure(
                "NoJoinFile", "\(error)\njoin needs the file NODE.join that `pipectl fleet init` wrote", .failed)
        }
        try self.init(Data(bytes), from: path)
    }

    /// Parses and checks the file's text, which anybody may have changed.
    init(_ text: Data, from path: String) throws(Failure) {
        guard let file = try? JSONDecoder().decode(JoinFile.self, from: text) else {
            throw Self.bad(path, "it is not a file of `pipectl fleet init`, or it is incomplete")
        }
        self = file
        if let fault { throw Self.bad(path, fault) }
    }

    var text: String {
        get throws { try JSONText.document(self) + "\n" }
    }

    private static func bad(_ path: String, _ fault: String) -> Failure {
        Failure("BadJoinFile", "\(path) can't be used: \(fault); copy the whole file again", .failed)
    }

    /// The reason why the file can't be used; nil if it can.
    private var fault: String? {
        if !NodeName.isOne(name) { return "'\(name.prefix(100))' is not a node's name" }
        let prefix = "tls://"
        let areServers = servers.allSatisfy {
            $0.hasPrefix(prefix) && (try? FleetServer(String($0.dropFirst(prefix.count)))) != nil
        }
        guard areServers, !servers.isEmpty else { return "it names no servers" }
        let hasKey = ["BEGIN NATS USER JWT", "END NATS USER JWT", "BEGIN USER NKEY SEED", "END USER NKEY SEED"]
            .allSatisfy { credentials.contains("-----\($0)-----") }
        if !hasKey { return "it has no key, or no token that the servers accept" }
        let isCertificate =
            authority.hasPrefix("-----BEGIN CERTIFICATE-----\n") && authority.hasSuffix("\n-----END CERTIFICATE-----\n")
        return isCertificate ? nil : "it has no certificate of the authority"
    }
}
