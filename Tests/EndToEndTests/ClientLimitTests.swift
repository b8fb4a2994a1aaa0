import Foundation
import Glibc
import PipelineControl
import Synchronization
import SystemCalls
import TestTools
import Testing

@Suite("Limits of clients")
struct ClientLimitTests {
    private func with(_ settings: String, _ body: (DaemonFixture) async throws -> Void) async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Control]\n" + settings], body)
    }

    private func write(events count: Int, _ daemon: DaemonFixture) throws {
        let client = try RawClient(daemon)
        let call = RawClient.call("Concurrency", #"{"queue":"render","limit":"2","save":false}"#)
        for _ in 0..<count / 100 {
            try client.send((0..<100).flatMap { _ in call })
            for _ in 0..<100 { #expect(try client.answer()?.error == nil) }
        }
        // The reply arrives once all earlier calls are durable.
        #expect(try client.ask("Resume").error == nil)
    }

    // MARK: - Number of clients

    @Test("500 idle connections don't keep a new client out: the connection that was idle longest is closed")
    func idle() async throws {
        try await with("") { daemon in
            try await daemon.waitForAll()
            let before = try daemon.settledDescriptors()
            let idle = try (0..<500).map { _ in
                let client = try RawClient(daemon)
                #expect(try client.ask("Status").error == nil)
                return client
            }
            #expect(try idle[499].ask("Status").error == nil)
            #expect(try idle[244].ask("Status").error == nil)
            #expect(idle[0].isClosed())
            try daemon.expectDescriptors(before + 256)
            try await daemon.says("idle longest, is closed")
            #expect(daemon.log.components(separatedBy: "is the maximum (MaxClients=)").count < 20, "a line for each")
        }
    }

    @Test("with MaxClients busy connections another is refused with a message, and accepted when one ends")
    func busy() async throws {
        try await with("MaxClients=3\n") { daemon in
            #expect(try RawClient(daemon).ask("Resume").error == nil)
            var busy = try (0..<3).map { _ in
                let client = try RawClient(daemon)
                #expect(try client.ask("Watch", #"{"cursor":0}"#, more: true).parameters["events"] != nil)
                return client
            }
            let refused = try RawClient(daemon)
            let reply = try #require(try refused.answer())
            #expect(reply.error == "Refused")
            #expect((reply.parameters["message"] as? String)?.contains("MaxClients=") == true)
            #expect(refused.isClosed())
            let outcome = try await daemon.pipectl("status")
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("3 clients are busy, which is the maximum (MaxClients=)"))
            busy.removeFirst()
            while try RawClient(daemon).ask("Status").error == "Refused" {}
            try await daemon.says("one is refused")
            #expect(daemon.log.components(separatedBy: "one is refused").count < 20, "a line for each")
        }
    }

    // MARK: - Clients that do not read

    @Test("a client that never reads its watch is dropped, and resumes at its cursor without missing an event")
    func stalledWatch() async throws {
        try await with("StallTimeout=100ms\n") { daemon in
            let slow = try RawClient(daemon)
            try slow.send(RawClient.call("Watch", #"{"cursor":0}"#, more: true))
            let before = daemon.resident
            try write(events: 3000, daemon)
            try await daemon.says("has read nothing of what waits for it")
            #expect(daemon.resident - before < 50)
            var cursors: [Int] = []
            func take(_ reply: [String: Any]?) {
                let events = reply?.parameters["events"] as? [[String: Any]] ?? []
                cursors += events.compactMap { $0["cursor"] as? Int }
            }
            // The client can still read the replies that arrived before the daemon closed the connection. The last
            // reply may be truncated.
            while let reply = try slow.answer() { take(reply) }
            let last = try daemon.status().cursor
            #expect(cursors.count > 100 && cursors.count < last)
            let again = try RawClient(daemon)
            try again.send(RawClient.call("Watch", #"{"cursor":\#(cursors.last ?? 0)}"#, more: true))
            while cursors.last != last { take(try again.answer()) }
            #expect(cursors == Array(1...last))
        }
    }

    @Test(
        "a reader whose cursor is no longer in the log learns what it missed, and resumes at the oldest event")
    func lostEvents() async throws {
        try await with("HistoryEvents=1000\n") { daemon in
            try write(events: 3500, daemon)
            let events = try #require(try daemon.client().first(Call.Watch(cursor: 5))).events
            let told = try #require(events.first)
            #expect(told.kind == "lost")
            #expect(told.text == "the events from 6 to \(told.cursor) are gone: HistoryEvents= says how many are kept")
            #expect(try daemon.call(Call.Watch(cursor: told.cursor)).events.first?.cursor == told.cursor + 1)
            let last = try daemon.status().cursor
            #expect((1000...2000).contains(last - told.cursor))
            let ahead = try #require(try daemon.call(Call.Watch(cursor: last + 10)).events.first)
            #expect(ahead.kind == "lost" && ahead.cursor == last)
        }
    }

    @Test(
        "a client that lists or awaits a thousand jobs and reads nothing costs no memory and delays nobody"
    )
    func unreadList() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            for number in 0..<1000 { try daemon.drop(Data("x".utf8), as: "\(number).png") }
            try await daemon.job("999.png", becomes: "queued")
            let before = daemon.resident
            let clients = try [("List", "states"), ("Wait", "ids")].flatMap { method, list in
                try (0..<20).map { _ in
                    let client = try RawClient(daemon)
                    try client.send(RawClient.call(method, #"{"\#(list)":[]}"#, more: true))
                    return client
                }
            }
            let good = try RawClient(daemon)
            _ = try good.ask("CancelAll")
            #expect(daemon.resident - before < 100)
            var jobs = 0
            var reply = try #require(try clients[0].answer())
            while true {
                jobs += (reply.parameters["jobs"] as? [Any])?.count ?? 0
                guard reply["continues"] as? Bool == true else { break }
                reply = try #require(try clients[0].answer())
            }
            #expect(jobs == 1000)
        }
    }

    // MARK: - Descriptors

    @Test("unexpected descriptors are closed at once, however many and of whatever kind")
    func strayDescriptors() async throws {
        try await DaemonFixture.with { daemon in
            let (one, other) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
            mkfifo(daemon.path("pipe"), 0o600)
            let kinds = [
                one, other, try Descriptor.open("/dev/zero", O_RDONLY), try Descriptor.open("/", O_RDONLY),
                try Descriptor.open(daemon.path("pipe"), O_RDWR),
            ]
            try await daemon.waitForAll()
            let client = try RawClient(daemon)
            _ = try client.ask("Status")
            let before = try daemon.settledDescriptors()
            for count in [1, 5, 16, 17, 60] {
                let many = (0..<count).map { kinds[$0 % kinds.count] }
                for method in ["Status", "Fly", "List"] {
                    _ = try client.ask(method, #"{"states":[]}"#, many)
                    #expect(daemon.heldDescriptors <= before + DaemonFixture.ownDescriptors)
                }
            }
            try client.send(RawClient.call("Watch", more: true), kinds)
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            #expect(try client.answer() != nil)
            try daemon.expectDescriptors(before)
        }
    }

    @Test("a client that floods an unfinished call with descriptors is disconnected")
    func descriptorFlood() async throws {
        try await DaemonFixture.with { daemon in
            try await daemon.waitForAll()
            let before = try daemon.settledDescriptors()
            let zero = try Descriptor.open("/dev/zero", O_RDONLY)
            let client = try RawClient(daemon)
            #expect(throws: SystemError.self) {
                for _ in 0..<100_000 { try client.send([UInt8(ascii: " ")], Array(repeating: zero, count: 16)) }
            }
            #expect(client.isClosed())
            try daemon.expectDescriptors(before)
            try await daemon.says("more descriptors than any call on the control socket takes")
        }
    }

    @Test("add accepts readable files of at most MaxSize, and reads nothing from anything else")
    func addedKinds() async throws {
        try await with("MaxSize=1M\n") { daemon in
            func ask(_ file: Descriptor) throws -> [String: Any] {
                try RawClient(daemon).ask("Add", #"{"name":"a.png"}"#, [file])
            }
            let (one, _) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
            mkfifo(daemon.path("pipe"), 0o600)
            for file in [
                one, try Descriptor.open("/dev/zero", O_RDONLY), try Descriptor.open("/", O_RDONLY),
                try Descriptor.open(daemon.path("pipe"), O_RDWR),
            ] {
                let reply = try ask(file)
                #expect(reply.error == "BadValue")
                #expect((reply.parameters["message"] as? String)?.contains("is not a file that can be copied") == true)
            }
            #expect(try ask(try Descriptor.open(daemon.path("written"), O_WRONLY | O_CREAT)).error == "Refused")
            for (size, error) in [(1_048_576, nil), (1_048_577, "BadValue"), (1 << 40, "BadValue")] as [(Int, String?)]
            {
                let file = try Descriptor.open(daemon.path("sparse"), O_RDWR | O_CREAT)
                ftruncate(file.number, size)
                #expect(try ask(file).error == error, "\(size)")
            }
            #expect(try RawClient(daemon).ask("Add", #"{"name":"a.png"}"#, [one, one]).error == "BadValue")
            #expect(try RawClient(daemon).ask("Add", #"{"name":"a.png"}"#).error == "BadValue")
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test("a file that is written to while it is added is refused, and no copy is left")
    func growingFile() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Data(count: 20_000_000), to: "mine/a.png")
            let file = try Descriptor.open(daemon.path("mine/a.png"), O_RDWR | O_APPEND)
            let isOver = Flag()
            Thread.detachNewThread { while !isOver.isSet { Glibc.write(file.number, "x", 1) } }
            while try file.status().st_size == 20_000_000 { sched_yield() }
            // On a busy machine the writing thread sometimes does not run while the daemon copies the file. In that
            // case, the daemon accepts the copy and keeps it in the spool, and the test tries again.
            _ = try daemon.call(Call.Pause(queue: "render"))
            var reply: [String: Any]
            var taken: [String]
            repeat {
                taken = daemon.files(in: "state/spool")
                reply = try RawClient(daemon).ask("Add", #"{"name":"a.png"}"#, [file])
            } while reply.error == nil && taken.count < 100
            isOver.set()
            #expect(reply.error == "Refused")
            #expect((reply.parameters["message"] as? String)?.contains("was written to while it was copied") == true)
            #expect(Set(daemon.files(in: "state/spool")) == Set(taken))
        }
    }

    @Test("adds that are sent without waiting for answers each get their own file")
    func pipelinedAdds() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            let client = try RawClient(daemon)
            for number in 0..<50 {
                try daemon.write(Data(count: number), to: "mine/\(number).png")
                try client.send(RawClient.call("Status"))
                try client.send(
                    RawClient.call("Add", #"{"name":"\#(number).png"}"#),
                    [try Descriptor.open(daemon.path("mine/\(number).png"), O_RDONLY)])
            }
            for number in 0..<50 {
                #expect(try client.answer()?.parameters["status"] != nil)
                let job = try #require(try client.answer()?.parameters["job"] as? [String: Any])
                #expect(job["input"] as? String == "\(number).png")
            }
            let sizes = try daemon.files(in: "state/spool").map { file in
                let name = try #require(file.split(separator: "/").last)
                return "\(try daemon.data("state/spool/\(file)").count).png" == name
            }
            #expect(sizes == Array(repeating: true, count: 50))
        }
    }

    @Test("when few files may be open, clients use at most half of the descriptors, and pictures the other half")
    func fewDescriptors() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: ["/usr/bin/prlimit", "--nofile=64:64"])
            try await daemon.says("enough for 4 clients of the control socket, not for MaxClients=256")
            var clients: [RawClient] = []
            for number in 0..<40 {
                clients.append(try RawClient(daemon))
                try clients[number].send(Array(#"{"method":"half"#.utf8))
                try daemon.drop(as: "\(number).png")
            }
            try await daemon.waitForAll()
            #expect(try await daemon.pipectl("status").status == 0)
            #expect(daemon.files(in: "outbox").count == 40)
        }
    }

    @Test("without free descriptors no new client is served, and everything continues when some are free")
    func exhaustion() async throws {
        try await DaemonFixture.with { daemon in
            // While workers start, the daemon uses additional descriptors, so wait until they have started.
            _ = try daemon.settledDescriptors()
            let known = try RawClient(daemon)
            _ = try known.ask("Status")
            func limit(_ count: Int) async throws {
                let outcome = try await Programs.run(
                    path: "/usr/bin/prlimit", ["--pid", "\(daemon.process)", "--nofile=\(count):"])
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            try await limit(daemon.freeDescriptor)
            let waiting = try RawClient(daemon)
            try waiting.send(RawClient.call("Status"))
            try await daemon.says("the control socket accepts no connection")
            #expect(try known.ask("Status").error == nil)
            try daemon.write(Picture.small, to: "mine/a.png")
            let file = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
            let refused = try known.ask("Add", #"{"name":"added.png"}"#, [file])
            #expect(refused.error == "Refused")
            // If a descriptor happens to be free, the daemon receives the file but can't create a copy of it. In either
            // case, the message contains these words.
            let message = (refused.parameters["message"] as? String ?? "").lowercased()
            #expect(message.contains("too many open"), "\(refused.parameters)")
            for number in 0..<5 { try daemon.drop(as: "\(number).png") }
            try await limit(20_000)
            #expect(try waiting.answer()?.parameters["status"] != nil)
            try await daemon.says("the control socket accepts connections again")
            #expect(
                daemon.log.components(separatedBy: "the control socket accepts no connection").count == 2, "said once")
            try await daemon.waitForAll()
            await daemon.stop()
            let kept = daemon.files(in: "archive") + daemon.files(in: "failed").filter { $0.hasSuffix(".png") }
            #expect(kept.count == 5, "\(daemon.files(in: "."))")
        }
    }
}

private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

extension ControlClient {
    /// Returns the first reply of a stream.
    fileprivate func first<C: ControlCall>(_ call: C) throws -> C.Reply? {
        var reply: C.Reply?
        try stream(call) {
            reply = $0
            return false
        }
        return reply
    }
}
