import Glibc
import PipelineControl
import ServiceProgram
import Synchronization
import SystemCalls

/// The tokens of programs. They are made and revoked at the Unix socket, and stay valid until they are revoked.
final class Tokens: Sendable {
    struct Token: Codable, Sendable {
        var name: String
        var role: Role
        var secret: String
        /// When the token was made, in seconds since 1970.
        var made: Double
    }

    /// Why a request is refused: the status and the text of the answer to the client.
    struct Refusal: Error {
        let status: Int
        let words: String
    }

    private static let most = 256
    private let file: StateFile
    /// Why the file could not be read; nil if it was read. An unreadable file is not overwritten, because it may still
    /// contain the tokens.
    private let problem: String?
    private let tokens: Mutex<[Token]>

    init(_ file: StateFile) {
        self.file = file
        var known: [Token] = []
        var problem: String?
        do {
            let bytes = try file.read()
            if !bytes.isEmpty { known = try Wire.decode([Token].self, bytes) }
        } catch {
            problem = "\(file.path) can't be read: \((error as? SystemError)?.reason ?? "it is damaged")"
            Log.failure("no token is valid, because \(problem ?? "")", advice: "restore the file, or remove it")
        }
        tokens = Mutex(known)
        self.problem = problem
    }

    var all: [Token] { tokens.withLock { $0 } }

    /// The token of a request; nil for a request without a token. Throws if a header looks like a token but contains no
    /// valid token, because a proxy may skip its own password check for a request with such a header.
    func token(of request: HTTPRequest) throws(Refusal) -> Token? {
        let scheme = "bearer".utf8
        let values = request.values("authorization").filter { value in
            value.utf8.prefix(scheme.count).elementsEqual(scheme) { $0 | 0x20 == $1 }
        }
        guard let value = values.first else { return nil }
        let secret = value.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        guard values.count == 1, let token = all.first(where: { $0.secret.utf8.elementsEqual(secret) }) else {
            throw Refusal(status: 401, words: "this token is unknown here, or has been revoked")
        }
        return token
    }

    func make(_ name: String, _ role: Role) throws(Refusal) -> Token {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isOfName) else {
            throw Refusal(
                status: 400, words: "a token's name has 1 to 64 letters, digits, dots, hyphens and underscores")
        }
        let token = Token(name: name, role: role, secret: Secret.make(), made: Timestamp.now())
        try change { (all) throws(Refusal) in
            guard !all.contains(where: { $0.name == name }) else {
                throw Refusal(status: 409, words: "there is a token '\(name)': revoke it, or take another name")
            }
            guard all.count < Self.most else {
                throw Refusal(status: 409, words: "there are \(Self.most) tokens already: revoke one")
            }
            all.append(token)
        }
        return token
    }

    func revoke(_ name: String) throws(Refusal) {
        try change { (all) throws(Refusal) in
            guard let index = all.firstIndex(where: { $0.name == name }) else {
                throw Refusal(status: 404, words: "there is no token '\(name.prefix(64))'")
            }
            all.remove(at: index)
        }
    }

    /// Saves the change to the file before it takes effect. Otherwise, if saving failed, a new token would be lost at
    /// exit, and a revoked token would work again after a restart.
    private func change(_ body: (inout [Token]) throws(Refusal) -> Void) throws(Refusal) {
        if let problem {
            throw Refusal(status: 500, words: "\(problem); restore it, or remove it, and restart the gallery")
        }
        try tokens.withLock { (all) throws(Refusal) in
            var changed = all
            try body(&changed)
            do {
                try file.write(try Wire.encode(changed))
            } catch {
                throw Refusal(status: 500, words: "\(file.path) can't be written: \(error)")
            }
            all = changed
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "._-".utf8.contains(byte) }
}
