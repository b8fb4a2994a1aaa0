import DaemonRuntime
import ManualPages
import SystemCalls
import Testing

@testable import Gallery

@Suite("The command line of the gallery")
struct ArgumentsTests {
    @Test("each bound is a number within its limits, and the help names its default")
    func bounds() throws {
        for (option, least, most) in [("--clients", 1, 10_000), ("--headers", 1024, 1_048_576), ("--silence", 1, 3600)]
        {
            for good in [least, most] { _ = try Arguments([option, "\(good)"]) }
            for bad in ["\(least - 1)", "\(most + 1)", "many", "-1", "1e3"] {
                let error = #expect(throws: UsageError.self) { try Arguments([option, bad]) }
                #expect(
                    error?.description.contains("\(option) takes a number from \(least) to \(most), not '\(bad)'")
                        == true)
            }
        }
        let limits = HTTPServer.Limits()
        for number in [limits.clients, limits.headers, limits.silence] { #expect(Manual.help.contains("(\(number))")) }
    }

    @Test("an address has a port; that of IPv6 stands between brackets")
    func addresses() {
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
    }

    @Test("one daemon is served, and every option stands in the help and in the manual")
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
