import FoundationEssentials

/// Signs the credentials of nodes. A node shows them to the servers when it connects, so a new node changes nothing on a server.
struct FleetAuthority {
    private let openSSL: OpenSSL
    private let key: String
    private let publicKey: [UInt8]

    /// - Parameter key: as PEM
    init(_ openSSL: OpenSSL, key: String) throws(Failure) {
        (self.openSSL, self.key) = (openSSL, key)
        publicKey = try openSSL.raw(key, isPublic: true)
    }

    /// As the servers know it.
    var `operator`: String { NKey.publicKey(.operator, publicKey) }
    private var account: String { NKey.publicKey(.account, publicKey) }
    private var now: Int { Int(Date.now.timeIntervalSince1970) }

    /// A key for a node, and what the node shows to the servers. Returns the public key as well.
    /// - Parameter end: when the servers let it in no more, in seconds since 1970
    func credentials(of node: String, until end: Int?) throws -> (text: String, publicKey: String) {
        let own = try openSSL.key(.ed25519)
        let publicKey = NKey.publicKey(.user, try openSSL.raw(own, isPublic: true))
        let token = try signed(.node(node, publicKey, by: account, until: end, at: now))
        let seed = NKey.seed(.user, try openSSL.raw(own, isPublic: false))
        let text = """
            -----BEGIN NATS USER JWT-----
            \(token)
            ------END NATS USER JWT------

            -----BEGIN USER NKEY SEED-----
            \(seed)
            ------END USER NKEY SEED------

            """
        return (text, publicKey)
    }

    /// The account of all nodes, as the servers read it.
    func nodesConfiguration(of plan: FleetPlan) throws -> String {
        """
        # The account that all nodes have, and which of them were removed. `pipectl fleet remove` writes this file anew. It
        # belongs beside nats.conf on every server, and counts after install.sh, or:  nats-server --signal reload

        resolver_preload: {
          \(account): "\(try signed(.account(account, by: `operator`, removed: plan.removed, at: now)))"
        }

        """
    }

    /// A JSON Web Token.
    private func signed(_ claims: FleetClaims) throws -> String {
        let words = [Data(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8), try JSONEncoder().encode(claims)]
        let text = words.map(Self.base64).joined(separator: ".")
        return text + "." + Self.base64(Data(try openSSL.signature(of: text, key: key)))
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
