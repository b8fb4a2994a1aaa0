import Foundation
import Glibc
import PipelineControl
import SystemCalls
import Testing

@Suite("A control socket from the service manager")
struct SocketActivationTests {
    private static func listen(_ daemon: DaemonFixture, _ name: String = "control.sock") throws -> Descriptor {
        let path = daemon.path("run/\(name)")
        try FileManager.default.createDirectory(atPath: daemon.path("run"), withIntermediateDirectories: true)
        return try Socket.listen(path)
    }

    @Test("a client that calls while no daemon runs is answered by the next daemon, whose end leaves the socket open")
    func queued() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let listener = try Self.listen(daemon)
            let wrapper = ServiceEnvironment.listening(1, names: "control")
            for _ in 1...2 {
                let early = try RawClient(daemon)
                try early.send(RawClient.call("Status"))
                try await daemon.start(under: wrapper, passing: [listener])
                #expect(try early.answer()?.parameters["status"] != nil)
                await daemon.stop()
                #expect(daemon.exists("run/control.sock"))
            }
        }
    }

    @Test("a socket of any name is accepted if it is the only one")
    func otherName() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let listener = try Self.listen(daemon)
            try await daemon.start(
                under: ServiceEnvironment.listening(1, names: "pipelined.socket"), passing: [listener])
            #expect(try daemon.status().jobs.done == 0)
        }
    }

    @Test("two sockets, a socket of another kind and no socket at all are refused with the reason")
    func refused() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let listener = try Self.listen(daemon)
            let other = try Self.listen(daemon, "other.sock")
            let (end, _) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
            let file = try Descriptor.open("/dev/null", O_RDONLY)
            let cases: [([Descriptor], String, String)] = [
                ([listener, other], "control:web", "2 sockets were passed (control, web)"),
                ([end], "control", "'control' is not a listening Unix stream socket"),
                ([file], "control", "'control' is not a listening Unix stream socket"),
            ]
            for (passed, names, words) in cases {
                let wrapper = ServiceEnvironment.listening(passed.count, names: names)
                try daemon.launch(under: wrapper, passing: passed)
                // Signal 0 is never delivered; this only waits for the exit.
                #expect(await daemon.stop(0) == 78)
                #expect(daemon.log.contains(words), "\(daemon.log)")
            }
        }
    }
}
