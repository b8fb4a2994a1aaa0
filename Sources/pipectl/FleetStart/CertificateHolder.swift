/// The holder of a certificate. The holder determines the certificate's names and uses.
enum CertificateHolder {
    /// The authority, which signs the servers' certificates.
    case authority
    case server(FleetServer)

    /// The certificate request in openssl's format. Server names are already checked: they contain no newline or comma.
    var request: String {
        """
        [req]
        prompt = no
        distinguished_name = subject
        x509_extensions = extensions

        [subject]
        CN = \(commonName)

        [extensions]
        subjectKeyIdentifier = hash
        \(extensions.joined(separator: "\n"))

        """
    }

    private var commonName: String {
        switch self {
        case .authority: "Authority of a fleet of pipelined"
        case .server: "Server of a fleet of pipelined"
        }
    }

    private var extensions: [String] {
        let plain = [
            "authorityKeyIdentifier = keyid", "basicConstraints = critical, CA:FALSE",
            "keyUsage = critical, digitalSignature",
        ]
        return switch self {
        case .authority:
            ["basicConstraints = critical, CA:TRUE, pathlen:0", "keyUsage = critical, keyCertSign, cRLSign"]
        // The servers of a cluster connect to each other, so each of them is also a client.
        case .server(let server):
            plain + ["extendedKeyUsage = serverAuth, clientAuth", "subjectAltName = \(server.subjectName)"]
        }
    }
}
