import SystemCalls
import TestTools
import Testing

@testable import Gallery

@Suite("The tokens of programs")
struct TokensTests {
    private static func request(_ secret: String) -> HTTPRequest { request(authorization: "Bearer \(secret)") }

    private static func request(authorization: String) -> HTTPRequest {
        HTTPRequest(
            method: "GET", path: "/", version: "HTTP/1.1",
            headers: [HTTPRequest.Header(name: "Authorization", value: authorization)])
    }

    private func withFile(_ body: (StateFile) throws -> Void) throws {
        try withTemporaryFolder { folder in try body(StateFile("gallery-tokens", beside: "\(folder)/control.sock")) }
    }

    @Test("a token holds over a restart until it is revoked, in a file that only its owner reads")
    func lasting() throws {
        try withFile { file in
            let made = try Tokens(file).make("shop", .add)
            #expect(try FileSystem.status(file.path).map { $0.mode & 0o777 } == 0o600)
            let next = Tokens(file)
            #expect(try next.token(of: Self.request(made.secret))?.role == .add)
            try next.revoke("shop")
            for tokens in [next, Tokens(file)] {
                #expect { try tokens.token(of: Self.request(made.secret)) } throws: {
                    ($0 as? Tokens.Refusal)?.status == 401
                }
            }
        }
    }

    @Test("a name that is taken, empty, long or odd is refused, and so is one token too many")
    func names() throws {
        try withFile { file in
            let tokens = Tokens(file)
            func status(_ name: String) -> Int {
                do throws(Tokens.Refusal) { _ = try tokens.make(name, .look) } catch { return error.status }
                return 200
            }
            #expect(status("shop-2.a_B") == 200 && status("shop-2.a_B") == 409)
            for name in ["", "a b", "a/b", "ä", String(repeating: "a", count: 65)] {
                #expect(status(name) == 400, "\(name)")
            }
            #expect(status(String(repeating: "a", count: 64)) == 200)
            for number in 3...256 { #expect(status("n\(number)") == 200) }
            #expect(status("more") == 409)
            #expect { try tokens.revoke("other") } throws: { ($0 as? Tokens.Refusal)?.status == 404 }
        }
    }

    @Test("a token that can't be kept is not made, and a revocation that can't be kept is refused")
    func unkept() throws {
        let tokens = Tokens(StateFile("gallery-tokens", beside: "/proc/none/control.sock"))
        #expect { try tokens.make("shop", .look) } throws: { ($0 as? Tokens.Refusal)?.status == 500 }
        #expect(tokens.all.isEmpty)
    }

    @Test("a damaged file admits nobody, and stays as it is until a person removes it")
    func damaged() throws {
        try withFile { file in
            try file.write(Array("[{".utf8))
            let tokens = Tokens(file)
            #expect(tokens.all.isEmpty)
            #expect { try tokens.make("shop", .steer) } throws: { ($0 as? Tokens.Refusal)?.status == 500 }
            #expect(try file.read() == Array("[{".utf8))
            try FileSystem.remove(file.path)
            _ = try Tokens(file).make("shop", .steer)
            #expect(Tokens(file).all.map(\.name) == ["shop"])
        }
    }

    @Test("a role includes the roles before it, and only a bearer's header is a token")
    func roles() throws {
        try withFile { file in
            let tokens = Tokens(file)
            let guardian = Guard(door: Door(port: 8080), tokens: tokens)
            for role in Role.allCases {
                let request = Self.request(try tokens.make(role.rawValue, role).secret)
                #expect(guardian.lock(request) == nil)
                for needed in Role.allCases {
                    let status = guardian.refusal(request, without: needed)?.status
                    #expect(status == (needed <= role ? nil : 403), "\(role), \(needed)")
                }
            }
            for value in ["Bearer", "Bearer ", "Basic \(tokens.all[0].secret)", tokens.all[0].secret] {
                let request = Self.request(authorization: value)
                #expect(guardian.lock(request)?.status == 401, "\(value)")
                let isToken = value.hasPrefix("Bearer")
                #expect(Guard(tokens: tokens).lock(request)?.status == (isToken ? 401 : nil), "\(value), at a socket")
            }
            for value in ["bearer x", "BEARER  x y", "Bearerx", "Bearer\tx"] {
                #expect(Guard(tokens: tokens).lock(Self.request(authorization: value))?.status == 401, "\(value)")
            }
        }
    }
}
