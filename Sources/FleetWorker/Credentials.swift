import Foundation
import SystemCalls

/// This node's NATS credentials, and the authority against which it checks the servers' certificates.
struct Credentials: Sendable {
    /// The JWT that the fleet's authority issued for this node; empty if the file contains no JWT.
    let token: String
    /// The seed of the node's key. The node signs with this key, to prove that the token is its own.
    let seed: String
    /// The certificate of the authority that signed the servers' certificates.
    let authority: String

    private static let longest = 256 << 10

    /// Returns nil if the daemon sent no files, because the servers require no credentials.
    init?(_ files: [Descriptor]) throws(SystemError) {
        guard files.count == 2 else { return nil }
        var texts: [String] = []
        for file in files { texts.append(String(decoding: try file.piece(at: 0, Self.longest), as: UTF8.self)) }
        token = Self.block("NATS USER JWT", in: texts[0])
        seed = Self.block("USER NKEY SEED", in: texts[0])
        authority = texts[1]
    }

    private static func block(_ name: String, in text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline)
        guard let begin = lines.firstIndex(where: { $0.contains("-BEGIN \(name)-") }),
            lines.indices.contains(begin + 1)
        else { return "" }
        return String(lines[begin + 1])
    }

    /// Why servers must reject these credentials; nil if this node finds no fault in them.
    var trouble: String? {
        guard let claims else { return "Credentials= does not name NATS credentials; \(Self.remedy)" }
        if let end = claims.exp, Date.now.timeIntervalSince1970 >= Double(end) {
            let time = Date(timeIntervalSince1970: Double(end)).formatted(.iso8601)
            return "this node was admitted only until \(time); \(Self.remedy)"
        }
        return authority.contains("-BEGIN CERTIFICATE-") ? nil : "Authority= names no certificate; \(Self.remedy)"
    }

    private static let remedy = "`pipectl fleet add` makes a new file to join with"

    private struct Claims: Decodable {
        var exp: Int?
    }

    private var claims: Claims? {
        let parts = token.split(separator: ".")
        guard parts.count == 3, !seed.isEmpty else { return nil }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text).flatMap { try? JSONDecoder().decode(Claims.self, from: $0) }
    }
}
