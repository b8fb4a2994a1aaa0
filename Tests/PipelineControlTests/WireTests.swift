import Foundation
import PipelineControl
import SystemCalls
import Testing

struct WireTests {
    @Test("A call survives its frame")
    func roundTrip() throws {
        let frame = try Wire.frame(
            WireCall(
                method: "org.pipelined.Control.List", parameters: Call.List(states: ["done"], limit: 3), more: true))
        #expect(frame.last == Wire.terminator)
        let read = try Wire.decode(WireCall<Call.List>.self, frame.dropLast())
        #expect(read.more == true)
        #expect(read.parameters.states == ["done"])
        #expect(read.parameters.limit == 3)
        #expect(read.parameters.recipe == nil)
    }

    @Test("However a stream is split, its frames are the same", arguments: [1, 2, 3, 7, 1000])
    func cuts(size: Int) {
        let frames = ["{\"a\":1}", "", "{}", String(repeating: "x", count: 500)]
        let stream = frames.flatMap { Array($0.utf8) + [0] } + Array("half".utf8)
        var buffer = FrameBuffer()
        var read: [String] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            buffer.append(Array(stream[start..<min(start + size, stream.count)]))
            while let frame = buffer.next() { read.append(String(decoding: frame, as: UTF8.self)) }
        }
        #expect(read == frames)
        #expect(buffer.count == 4)
    }

    @Test("A missing value is written as null, and read from null or from nothing")
    func nullable() throws {
        let text = String(decoding: try Wire.encode(Sample.job(1, "running")), as: UTF8.self)
        for name in ["batch", "reason", "error", "finished"] { #expect(text.contains("\"\(name)\":null")) }
        let short = Array(
            #"{"id":1,"recipe":"noir","input":"a.jpg","state":"running","outputs":[],"created":"now","after":[],"setbacks":0}"#
                .utf8)
        #expect(try Wire.decode(Control.Job.self, short).error == nil)
    }

    @Test("Lists that an older daemon does not send are empty")
    func olderDaemon() async throws {
        let daemon = try CannedDaemon()
        let stage = #"{"name":"noir","summary":"s","state":"loaded","traits":[],"parameters":[]}"#
        for (method, parameters) in [
            ("Reload", #"{"problems":[]}"#), ("Plugins", #"{"stages":[\#(stage)],"skipped":[]}"#),
        ] {
            daemon.onAny(method) { _, conversation in
                try conversation.send(Array(#"{"parameters":\#(parameters)}"#.utf8) + [Wire.terminator])
            }
        }
        let client = try ControlClient(path: daemon.path)
        #expect(try client.call(Call.Reload()).skipped == [])
        let known = try client.call(Call.Plugins()).stages.first
        #expect(known?.atLeastOneOf == [] && known?.atMostOneOf == [])
    }

    @Test("A failed job's error is not a failed call")
    func errorInside() throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Cancel.self, .init(jobs: [Sample.job(1, "failed", error: "truncated")]))
        #expect(try ControlClient(path: daemon.path).call(Call.Cancel(ids: [1])).jobs.first?.error == "truncated")
    }

    @Test(
        "Every error of the interface arrives as that error",
        arguments: [
            ControlError.noSuchJob(7), .noSuchQueue("rendr", queues: ["render"]), .noSuchRecipe("x", recipes: ["noir"]),
            .badChain("unknown stage", column: 24), .badValue("too much"), .refused("it is stopping"),
            .methodNotFound("Status"),
        ])
    func errors(error: ControlError) throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.Status.self) { _, _ in throw error }
        let client = try ControlClient(path: daemon.path)
        #expect(throws: error) { try client.call(Call.Status()) }
    }

    @Test("A stream of many replies arrives whole and in order")
    func longStream() throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.List.self) { _, conversation in
            for start in stride(from: 0, to: 2000, by: 100) {
                try conversation.reply(
                    Call.List.Reply(jobs: (start..<start + 100).map { Sample.job($0) }), continues: start < 1900)
            }
        }
        var ids: [Int] = []
        try ControlClient(path: daemon.path).stream(Call.List()) { reply in
            ids += reply.jobs.map(\.id)
            return true
        }
        #expect(ids == Array(0..<2000))
    }

    @Test("A daemon that disappears during a call is reported as such")
    func closed() throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.Status.self) { _, conversation in conversation.hangUp() }
        let client = try ControlClient(path: daemon.path)
        #expect(throws: ConnectionClosed.self) { try client.call(Call.Status()) }
    }
}
