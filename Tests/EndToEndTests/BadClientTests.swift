import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("A bad client affects no other client")
struct BadClientTests {
    @Test("a message that is not a Varlink call closes its connection, while other clients are still answered")
    func garbage() async throws {
        let deep = { (open: String, count: Int) in
            Array((#"{"method":"x","parameters":"# + String(repeating: open, count: count)).utf8) + [0]
        }
        var noise: [UInt8] = (0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) | 1 }
        noise.append(0)
        let texts = [
            "", " ", "null", "[]", "5", "{}", #"{"method":5}"#, #"{"method":null}"#, "{\"method\":\"a",
            "GET / HTTP/1.1",
        ]
        let pieces =
            [noise, deep("[", 10_000), deep("[", 100_000), deep(#"{"a":"#, 10_000), deep(#"{"a":"#, 100_000)]
            + texts.map { Array($0.utf8) + [0] }
            + [Array(#"{"method":"\#u{FFFF}"#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8) + [0]]
        // MaxCall= is above its default, so that even the most deeply nested call reaches the decoder.
        try await DaemonFixture.with(["etc/pipelined.conf": "[Control]\nMaxCall=1M\n"]) { daemon in
            let good = try RawClient(daemon)
            for piece in pieces {
                let bad = try RawClient(daemon)
                try bad.send(piece)
                #expect(bad.isClosed(), "\(String(decoding: piece.prefix(60), as: UTF8.self))")
                #expect(try good.ask("Status").error == nil)
            }
            try await daemon.says("is not a Varlink call; closed")
            #expect(daemon.log.split(separator: "\n").count < pieces.count, "a line for each")
        }
    }

    @Test("a line of 10 MB is not buffered: its sender is disconnected")
    func endlessLine() async throws {
        try await DaemonFixture.with { daemon in
            let before = daemon.resident
            let bad = try RawClient(daemon)
            let line = [UInt8](repeating: UInt8(ascii: "x"), count: 10_000_000)
            #expect(throws: SystemError.self) { try bad.send(line) }
            #expect(try bad.answer()?.error == "BadValue")
            #expect(bad.isClosed())
            #expect(daemon.resident - before < 50)
            try await daemon.says("a call of more than 131072 bytes")
        }
    }

    @Test("a call may be MaxCall bytes long, and no longer")
    func longestCall() async throws {
        let settings = ["etc/pipelined.conf": "[Control]\nMaxCall=100K\n"]
        try await DaemonFixture.with(settings) { daemon in
            func call(_ length: Int) -> [UInt8] {
                let empty = RawClient.call("Explain", #"{"chain":""}"#).count - 1
                return RawClient.call("Explain", #"{"chain":"\#(String(repeating: "x", count: length - empty))"}"#)
            }
            let good = try RawClient(daemon)
            try good.send(call(100 * 1024))
            #expect(try good.answer()?.error == "BadValue")
            try good.send(call(100 * 1024 + 1))
            let refusal = try #require(try good.answer())
            let message = refusal.parameters["message"] as? String
            #expect(message == "a call has at most 102400 bytes (MaxCall= in [Control])")
            #expect(good.isClosed())
        }
    }

    @Test("a parameter that a method does not have is refused, with the nearest name, and changes nothing")
    func unknownParameters() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            let client = try RawClient(daemon)
            for (method, parameters, message) in [
                (
                    "Forget", #"{"states":["done"],"recipie":"web"}"#,
                    "Forget has no parameter 'recipie'; did you mean 'recipe'?"
                ),
                ("List", #"{"zzz":1}"#, "List has no parameter 'zzz'"),
                ("Status", #"{"verbose":true}"#, "Status has no parameter 'verbose'"),
            ] {
                let reply = try client.ask(method, parameters)
                #expect(reply.error == "BadValue" && reply.parameters["message"] as? String == message, "\(reply)")
            }
            #expect(try daemon.list().map(\.input) == ["a.png"])
            // A newer client sends null for a parameter that it does not use.
            #expect(try client.ask("List", #"{"zzz":null}"#).error == nil)
        }
    }

    @Test("a call may leave out every list")
    func missingLists() async throws {
        try await DaemonFixture.with { daemon in
            let client = try RawClient(daemon)
            for method in try DescribedMethod.all(client) {
                let lists = method.parameters.filter { $0.type.hasPrefix("[]") }.map(\.name)
                guard !lists.isEmpty else { continue }
                let reply = try client.ask(method.name, method.json(leavingOut: lists))
                #expect(reply.error != "InvalidParameter", "\(method.name): \(reply)")
            }
            #expect(try client.ask("List").parameters["jobs"] is [Any])
            // A call that selects no jobs is an error.
            for method in ["Cancel", "Retry", "Forget", "Undo", "Redo", "Clean", "CancelMatching"] {
                #expect(try client.ask(method).error == "BadValue", "\(method)")
            }
            #expect(!daemon.log.contains("asked for by"))
        }
    }

    @Test("an answer without `more` tells whether there are further jobs or files")
    func parts() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "download"))
            let urls = (1...501).map { "http://127.0.0.1:1/\($0).png" }
            _ = try daemon.call(Call.AddUrls(urls: urls))
            let all = try daemon.call(Call.List())
            #expect(all.jobs.count == 500 && all.isPart == true)
            for (limit, before, count, isPart) in [
                (500, nil, 500, true), (501, nil, 500, true), (1, nil, 1, true), (1, 3, 1, true), (2, 3, 2, false),
                (3, 3, 2, false), (1, 1, 0, false),
            ] as [(Int, Int?, Int, Bool)] {
                let some = try daemon.call(Call.List(limit: limit, before: before))
                #expect(some.jobs.count == count && some.isPart == isPart, "\(limit) \(before ?? 0)")
            }
            #expect(try daemon.call(Call.List(states: ["done"], limit: 1)).isPart == false)
            let batches = try daemon.call(Call.Batches())
            #expect(batches.batches.count == 1 && batches.isPart == false)
            for number in 1...501 { try daemon.drop(Data(), as: "notes/\(number).txt") }
            while try daemon.status().jobs.ignored < 501 { await Look.again() }
            let ignored = try daemon.call(Call.ListIgnored())
            #expect(ignored.ignored.count == 500 && ignored.isPart == true)
            let rest = try daemon.call(Call.ListIgnored(after: ignored.ignored[499].path))
            #expect(rest.ignored.count == 1 && rest.isPart == false)
            let reasons = try daemon.status().ignoredReasons
            #expect(reasons.map(\.files) == [501] && reasons[0].example == daemon.path("inbox/notes/1.txt"))
            #expect(reasons[0].reason == ignored.ignored[0].reason)
        }
    }

    @Test("a wrong type in any field of any method is reported with the field's name")
    func wrongTypes() async throws {
        try await DaemonFixture.with { daemon in
            let client = try RawClient(daemon)
            for method in try DescribedMethod.all(client) {
                for (name, type) in method.parameters {
                    for value in DescribedMethod.wrong(type) {
                        let reply = try client.ask(method.name, method.json(name, value))
                        #expect(reply.error == "InvalidParameter", "\(method.name) \(name)=\(value): \(reply)")
                        // If a number exceeds the range of every type, JSONDecoder does not report the name of the
                        // field.
                        let told = reply.parameters["parameter"] as? String
                        #expect(told == name || told == "parameters" && value.contains(/[0-9]/), "\(name)=\(value)")
                    }
                    guard !type.hasPrefix("?"), !type.hasPrefix("[]") else { continue }
                    let reply = try client.ask(method.name, method.json(name, nil))
                    #expect(
                        reply.parameters["parameter"] as? String == name, "\(method.name) without \(name): \(reply)")
                }
                if !method.parameters.isEmpty {
                    #expect(try client.ask(method.name, "[]").error == "InvalidParameter")
                }
            }
            #expect(try client.ask("Status").error == nil)
        }
    }

    @Test("odd values in any field of any method get an answer, even with a picture attached")
    func oddValues() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            let picture = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
            let client = try RawClient(daemon)
            for method in try DescribedMethod.all(client) {
                for (name, type) in method.parameters {
                    for value in DescribedMethod.odd(type) {
                        let parameters = method.json(name, value)
                        let reply = try client.ask(method.name, parameters, [picture])
                        #expect(reply["parameters"] != nil, "\(method.name) \(name)=\(value.prefix(40)): \(reply)")
                    }
                }
            }
            #expect(try client.ask("Resume").error == nil)
            try await daemon.waitForAll()
            #expect(try await daemon.pipectl("status").status == 0)
        }
    }

    @Test("a client may vanish during a call, before its answer or during a stream")
    func disconnects() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "queued")
            let methods = try DescribedMethod.all(RawClient(daemon)).filter {
                $0.name != "CancelAll" && $0.name != "Resume"
            }
            let before = try daemon.settledDescriptors()
            for method in methods {
                let whole = RawClient.call(method.name, method.json(), more: true)
                for part in [whole.prefix(whole.count / 2), whole.dropLast(), whole[...]] {
                    try RawClient(daemon).send(Array(part))
                }
                let reader = try RawClient(daemon)
                if method.name == "Watch" || method.name == "Wait" {
                    try reader.send(whole)
                } else {
                    _ = try reader.ask(method.name, method.json(), more: true)
                }
            }
            try daemon.expectDescriptors(before)
            #expect(try daemon.list().map(\.state) == ["waiting"])
            _ = try daemon.call(Call.Resume(queue: nil))
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox") == ["noir/one.jpg"])
        }
    }

    @Test("a client that closes its sending side still gets every answer, then EOF")
    func halfClosed() async throws {
        try await DaemonFixture.with { daemon in
            let client = try RawClient(daemon)
            let calls =
                (0..<100).flatMap { _ in RawClient.call("Status") }
                + RawClient.call("List", #"{"states":[]}"#, more: true)
            try client.send(calls + Array(#"{"method":"half"#.utf8))
            client.endSending()
            for _ in 0..<100 { #expect(try client.answer()?.parameters["status"] != nil) }
            #expect(try client.answer()?.parameters["jobs"] != nil)
            #expect(try client.answer() == nil)
        }
    }

    @Test("a client that sends 5,000 calls before it reads is throttled, and gets all answers in order")
    func pipelining() async throws {
        let settings = ["etc/pipelined.conf": "[Control]\nMaxCall=4K\nMaxUnread=4K\n"]
        try await DaemonFixture.with(settings) { daemon in
            let client = try RawClient(daemon)
            let calls = (1...5000).flatMap { RawClient.call("Show", #"{"id":\#($0)}"#) }
            var sent = 0
            func push() throws -> Bool {
                var space = pollfd(fd: client.socket.number, events: Int16(POLLOUT), revents: 0)
                guard sent < calls.count, poll(&space, 1, 0) > 0 else { return false }
                sent += try Socket.send(calls[sent..<min(calls.count, sent + 4096)], to: client.socket)
                return true
            }
            // The test reads no replies until the daemon has stopped reading calls. Once 200 writes in a row are
            // refused, the test assumes that the daemon has stopped.
            var refused = 0
            while refused < 200 {
                refused = try push() ? 0 : refused + 1
                _ = try daemon.status()
            }
            #expect(sent < calls.count)
            for id in 1...5000 {
                let reply = try #require(try client.answer())
                #expect(reply.error == "NoSuchJob" && reply.parameters["id"] as? Int == id)
                while try push() {}
            }
        }
    }
}
