import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import Gallery

@Suite("Access to the gallery")
struct GuardTests {
    private static func request(_ method: String = "GET", _ headers: (String, String)...) -> HTTPRequest {
        HTTPRequest(
            method: method, path: "/", version: "HTTP/1.1",
            headers: headers.map { HTTPRequest.Header(name: $0, value: $1) })
    }

    @Test("a page is served for this machine's own names and those in --host, at any port")
    func hosts() {
        let guardian = Guard(hosts: Guard.loopback.union(["pictures.example"]))
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "[::1]", "pictures.example:443"] {
            #expect(guardian.refusal(Self.request("GET", ("Host", host))) == nil, "\(host)")
        }
        for host in [
            "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80", "[::2]", "::1",
            "localhost@evil", "[::1].evil.test", "[::1]evil", "[::1", "[::1]:80:80", "[::1]:8o", "localhost:80:80",
            "localhost:evil", "[localhost", "[", "]", "[]", ":80", "[::1]]", "x[::1]",
            "127.0.0.2", "0.0.0.0",
        ] {
            #expect(guardian.refusal(Self.request("GET", ("Host", host)))?.status == 421, "\(host)")
        }
    }

    @Test("another site's page can't read or change anything, but it may link here")
    func origins() {
        func status(_ method: String, _ headers: (String, String)...) -> Int? {
            let all = [("Host", "localhost:8080")] + headers
            return Guard().refusal(
                HTTPRequest(
                    method: method, path: "/", version: "HTTP/1.1",
                    headers: all.map { HTTPRequest.Header(name: $0, value: $1) }))?.status
        }
        #expect(status("POST", ("Sec-Fetch-Site", "same-origin")) == nil)
        #expect(status("GET", ("Sec-Fetch-Site", "none")) == nil)
        #expect(status("GET", ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")) == nil)
        #expect(status("GET", ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")) == 403)
        for site in ["cross-site", "same-site", "none", "odd"] {
            #expect(status("POST", ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate")) == 403, "\(site)")
        }
        #expect(status("POST", ("Origin", "http://localhost:8080")) == nil)
        #expect(status("POST", ("Origin", "https://localhost:8080")) == nil)
        for origin in ["http://localhost", "http://localhost:9", "null", "http://evil.example", ""] {
            #expect(status("POST", ("Origin", origin)) == 403, "\(origin)")
        }
        // Clients other than browsers send none of these headers.
        #expect(status("POST") == nil)
    }

    @Test("an unused code expires, and so does an idle session, while a session in use continues")
    func ends() throws {
        let clock = Mutex(1_000_000.0)
        let door = Door(port: 8080) { clock.withLock { $0 } }
        func pass(_ time: Double) { clock.withLock { $0 += time } }
        func visitor() throws -> HTTPRequest {
            Self.request(
                "GET", ("Cookie", String(try #require(door.enter(door.makeCode())).value.prefix { $0 != ";" })))
        }
        let (early, late) = (door.makeCode(), door.makeCode())
        pass(Door.codeLife - 1)
        #expect(door.enter(early) != nil)
        pass(1)
        #expect(door.enter(late) == nil)
        let (faithful, gone) = (try visitor(), try visitor())
        for _ in 1...3 {
            pass(Door.sessionLife - 1)
            #expect(door.admits(faithful))
        }
        #expect(!door.admits(gone))
        pass(Door.sessionLife)
        #expect(!door.admits(faithful))
    }

    @Test("a session survives a restart, in a file that only its owner reads, and ends there as well")
    func restart() throws {
        try withTemporaryFolder { folder in
            let clock = Mutex(1_000_000.0)
            let file = SessionFile(port: 8080, beside: "\(folder)/control.sock")
            func door() -> Door { Door(port: 8080, file: file) { clock.withLock { $0 } } }
            let first = door()
            let cookie = try #require(first.enter(first.makeCode())).value.prefix { $0 != ";" }
            let request = Self.request("GET", ("Cookie", String(cookie)))
            #expect(door().admits(request))
            #expect(try FileSystem.status(file.path).map { $0.mode & 0o777 } == 0o600)
            clock.withLock { $0 += Door.sessionLife - 1 }
            #expect(door().admits(request))
            clock.withLock { $0 += Door.sessionLife - 1 }
            #expect(door().admits(request) && door().renewal(of: request) != nil)
            clock.withLock { $0 += Door.sessionLife }
            #expect(!door().admits(request))
        }
    }

    @Test("a code works once and gives a cookie, which opens the door; the oldest codes and cookies expire")
    func door() throws {
        let door = Door(port: 8080)
        let code = door.makeCode()
        #expect(code.count == 32 && code != door.makeCode())
        let cookie = try #require(door.enter(code))
        #expect(door.enter(code) == nil && door.enter("") == nil)
        #expect(cookie.value.hasSuffix("; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"))
        let pair = String(cookie.value.prefix { $0 != ";" })
        #expect(pair.hasPrefix("pipelined-8080=") && pair.utf8.count == 15 + 32)
        #expect(door.admits(Self.request("GET", ("Cookie", pair))))
        #expect(door.admits(Self.request("GET", ("cookie", "a=b; \(pair); c=d"))))
        let secret = pair.dropFirst(15)
        for cookies in [
            "", "pipelined-8080=", "pipelined-8081=\(secret)", "\(pair)0", "x\(pair)", "pipelined-8080=\(code)",
        ] {
            #expect(!door.admits(Self.request("GET", ("Cookie", cookies))), "\(cookies)")
        }
        #expect(Guard(door: door).lock(Self.request())?.status == 401)
        #expect(Guard(door: door).lock(Self.request("GET", ("Cookie", pair))) == nil)
        let early = door.makeCode()
        for _ in 1...16 { _ = door.makeCode() }
        #expect(door.enter(early) == nil)
        for _ in 1...256 { _ = door.enter(door.makeCode()) }
        #expect(!door.admits(Self.request("GET", ("Cookie", pair))))
    }
}
