import FoundationEssentials

/// Signs the nodes' credentials. A node presents its credentials when it connects, so the servers need no change when
/// somebody adds a node.
struct FleetAuthority {
    private let openSSL: OpenSSL
    private let key: String
    private let publicKey: [UInt8]

    /// - Parameter key: the private key as PEM
    init(_ openSSL: OpenSSL, key: String) throws(Failure) {
        (self.openSSL, self.key) = (openSSL, key)
        publicKey = try openSSL.raw(key, isPublic: true)
    }

    /// The public key with which the servers verify the authority's signatures.
    var `operator`: String { NKey.publicKey(.operator, publicKey) }
    private var account: String { NKey.publicKey(.account, publicKey) }
    private var now: Int { Int(Date.now.timeIntervalSince1970) }

    /// Makes a node's credentials: its private key, and the signed token that it presents to the servers. Also returns
    /// its public key.
    /// - Parameter end: when the token expires, in seconds since 1970; nil for never
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

    /// The part of the servers' configuration that defines the account of all nodes.
    func nodesConfiguration(of plan: FleetPlan) throws -> String {
        """
        # The account of all nodes, and the removed nodes. `pipectl fleet remove` rewrites this file. Copy it
        # beside nats.conf on every server. It takes effect after install.sh, or after:  nats-server --signal reload

        resolver_preload: {
          \(account): "\(try signed(.account(account, by: `operator`, removed: plan.removed, at: now)))"
        }

        """
    }

    /// A signed JSON Web Token.
    private func signed(_ claims: FleetClaims) throws -> String {
        let words = [Data(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8), try JSONEncoder().encode(claims)]
        let text = words.map(Self.base64).joined(separator: ".")
        return text + "." + Self.base64(Data(try openSSL.signature(of: text, key: key)))
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
