import ManualPages
import ServiceProgram
import SystemCalls
import Testing

@testable import Gallery

@Suite("The command line of the gallery")
struct ArgumentsTests {
    @Test("each numeric option has limits, and the help shows its default")
    func bounds() throws {
        for (option, least, most) in [
            ("--clients", 1, 10_000), ("--streams", 1, 10_000), ("--headers", 1024, 1_048_576),
            ("--body", 1024, 1_048_576), ("--silence", 1, 3600),
        ] {
            for good in [least, most] { _ = try Arguments([option, "\(good)"]) }
            for bad in ["\(least - 1)", "\(most + 1)", "many", "-1", "1e3"] {
                let error = #expect(throws: UsageError.self) { try Arguments([option, bad]) }
                #expect(
                    error?.description.contains("\(option) takes a number from \(least) to \(most), not '\(bad)'")
                        == true)
            }
        }
        let limits = HTTPServer.Limits()
        let site = GallerySite.Limits()
        for number in [limits.clients, limits.headers, limits.silence, site.streams, site.body] {
            #expect(Manual.help.contains("(\(number))"))
        }
    }

    @Test("an address has a port, and an IPv6 address stands in brackets")
    func addresses() throws {
        for good in ["127.0.0.1:9188", "[::1]:9188", "0.0.0.0:0", "localhost:1"] {
            #expect(InternetAddress(good) != nil, "\(good)")
        }
        #expect(InternetAddress("localhost:80")?.description == "127.0.0.1:80")
        #expect(InternetAddress("[::1]:80")?.description == "[::1]:80")
        for bad in [
            "9188", ":9188", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80", "a.b:80", "[]:1",
        ] {
            #expect(InternetAddress(bad) == nil, "\(bad)")
            #expect(throws: UsageError.self) { try Arguments(["--metrics-listen", bad]) }
        }
        for good in ["127.0.0.1:8080", "127.9.9.9:0", "localhost:80", "[::1]:8080"] {
            _ = try Arguments(["--listen", good])
        }
        for bad in ["0.0.0.0:8080", "192.0.2.1:80", "[::]:80", "[::2]:80", "[::ffff:127.0.0.1]:80", "8080"] {
            #expect(throws: UsageError.self, "\(bad)") { try Arguments(["--listen", bad]) }
        }
    }

    @Test("only one daemon can be served, and every option is in the help and the manual")
    func words() throws {
        #expect(throws: UsageError.self) { try Arguments(["--root", "a", "--socket", "b"]) }
        #expect(throws: UsageError.self) { try Arguments(["--instance", "a", "--socket", "b"]) }
        let page = Manual.page.roff(version: "1", date: "2026-01-01")
        for option in Arguments.Option.allCases {
            #expect(Manual.help.contains("\(option.written) "))
            #expect(page.contains(option.rawValue.dropFirst(2).split(separator: "-")[0]))
        }
        #expect(Manual.help.split(separator: "\n").allSatisfy { $0.count <= 130 })
    }
}
