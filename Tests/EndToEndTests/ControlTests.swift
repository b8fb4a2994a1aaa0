import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("The control socket and its clients")
struct ControlTests {
    @Test(
        "a foreign Varlink client can list and describe the interfaces, ask for the status, watch and cancel all"
    )
    func foreignClient() async throws {
        let python = try #require(
            ProcessInfo.processInfo.environment["PIPELINED_FOREIGN_CLIENT"],
            "./run test installs the foreign client and names it here")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixture/foreign_client.py").path
        try await DaemonFixture.with { daemon in
            let outcome = try await Programs.run(
                path: python, [script, daemon.path("run/control.sock"), daemon.path("inbox")])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.lines.contains("interfaces: org.pipelined.Control org.varlink.service"))
            #expect(outcome.lines.contains("described: yes"))
            #expect(outcome.lines.contains("queues: announce download publish render"))
            #expect(outcome.lines.contains("watched: queued"))
            #expect(outcome.lines.contains("cancelled: 1"))
            #expect(outcome.lines.contains("batch: True 0 album"))
            #expect(outcome.lines.contains("retried: 0"))
            #expect(outcome.lines.contains("sifted: b.txt"))
            #expect(outcome.lines.contains("added: 2"))
            #expect(outcome.lines.contains("logged: https://127.0.0.1/a.png"))
            #expect(outcome.lines.contains { $0.hasPrefix("refused: '# no URL' is not an http or https URL") })
        }
    }

    @Test("add copies the caller's open file, answers when the copy is durable, and leaves the file alone")
    func add() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/holiday.png")
            let outcome = try await daemon.pipectl("add", daemon.path("mine/holiday.png"), "--json", "--wait")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let job = try JSONDecoder().decode(Control.Job.self, from: Data((outcome.lines.last ?? "").utf8))
            #expect(job.state == "done")
            #expect(job.outputs == [daemon.path("outbox/noir/holiday.jpg")])
            #expect(daemon.exists("mine/holiday.png"))
            await daemon.stop()
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test("add accepts several files as one batch with its own chain")
    func addChain() async throws {
        try await DaemonFixture.with { daemon in
            for name in ["a.png", "b.png"] { try daemon.write(Picture.small, to: "mine/\(name)") }
            let outcome = try await daemon.pipectl(
                "add", daemon.path("mine/a.png"), daemon.path("mine/b.png"), "--chain",
                "resize width=8 | save format=webp", "--wait")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let jobs = try daemon.list()
            #expect(jobs.map(\.batch) == [1, 1])
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["chain/a.webp", "chain/b.webp"])
            #expect(daemon.files(in: "archive") == ["chain/a.png", "chain/b.png"])
        }
    }

    @Test("an invalid chain is refused with the column before anything is copied")
    func badChain() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            let outcome = try await daemon.pipectl("add", daemon.path("mine/a.png"), "--chain", "noir contrast=9")
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("at column"))
            #expect(outcome.errors.contains("3"))
            let long = Array(repeating: "noir", count: 33).joined(separator: " | ")
            for verb in [["add", daemon.path("mine/a.png")], ["try", daemon.path("mine/a.png")]] {
                let refused = try await Programs.run(
                    "pipectl", ["--root", daemon.root.path] + verb + ["--chain", long])
                #expect(
                    refused.status == 2 && refused.errors.contains("MaxStages= in [Daemon] allows 32"), "\(refused)")
                #expect(refused.errors.contains("at column 225"), "\(refused)")
            }
            let explained = try await daemon.pipectl("explain", long)
            #expect(explained.errors.contains("MaxStages= in [Daemon] allows 32"), "\(explained)")
            #expect(try daemon.list() == [])
        }
    }

    @Test("wait exits with 1 when a job has failed, and with 4 for an unknown job")
    func waitCodes() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(Data("text".utf8), as: "bad.png")
            try daemon.drop(as: "good.png")
            try await daemon.waitForAll()
            #expect(try await daemon.pipectl("wait", "1", "2").status == 1)
            let good = try #require(try daemon.list(["done"]).first?.id)
            #expect(try await daemon.pipectl("wait", "\(good)").status == 0)
            #expect(try await daemon.pipectl("wait", "77").status == 4)
            #expect(try await daemon.pipectl("show", "77").status == 4)
            #expect(try await daemon.pipectl("cancel", "77").status == 4)
        }
    }

    @Test("status --json has the documented names")
    func statusJSON() async throws {
        try await DaemonFixture.with { daemon in
            let outcome = try await daemon.pipectl("status", "--json")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
            #expect(object["version"] as? String == Release.version)
            let jobs = try #require(object["jobs"] as? [String: Int])
            #expect(
                Set(jobs.keys)
                    == ["waiting", "queued", "running", "cancelling", "done", "failed", "cancelled", "ignored"])
            let queues = try #require(object["queues"] as? [String: [String: Any]])
            for queue in queues.values {
                #expect(
                    Set(queue.keys)
                        == ["configured", "effective", "running", "waiting", "paused", "reason", "automatic", "held"])
            }
        }
    }

    @Test("every change of a job is an event, in order, and a reader resumes at its cursor")
    func events() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.kind == "picture" }
            let all = try daemon.call(Call.Watch(cursor: 0)).events
            #expect(all.map(\.kind) == ["job", "job", "job", "published", "picture"])
            #expect(all.compactMap(\.job?.state) == ["queued", "running", "done", "done", "done"])
            #expect(all.map(\.cursor) == [1, 2, 3, 4, 5])
            #expect(try daemon.call(Call.Watch(cursor: 2)).events.map(\.cursor) == [3, 4, 5])
            #expect(all.last?.job?.outputs == [daemon.path("outbox/noir/one.jpg")])
        }
    }

    @Test("explain shows the recipe that takes a file, the plan, and why the job is not running")
    func explain() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: "lunch"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "queued")
            let held = try daemon.call(Call.Explain(file: daemon.path("inbox/one.png"))).explanation
            #expect(held.recipe == "noir")
            #expect(held.job?.reason == "paused: lunch")
            #expect(held.operations.map(\.kind) == ["render", "publish", "announce"])
            try daemon.drop(as: "DSC.PSD")
            #expect(symlink(daemon.path("inbox/DSC.PSD"), daemon.path("inbox/link.png")) == 0)
            try FileManager.default.createDirectory(
                atPath: daemon.path("inbox/album"), withIntermediateDirectories: true)
            for (name, why) in [
                ("DSC.PSD", "Photoshop"), ("link.png", "a symbolic link is not followed"), ("album", "it is a folder"),
            ] {
                let left = try daemon.call(Call.Explain(file: daemon.path("inbox/\(name)"))).explanation
                #expect(left.why.contains(why) && left.recipe == nil, "\(left)")
                #expect(left.operations.isEmpty && left.chains.isEmpty && left.job == nil, "\(left)")
            }
            #expect(throws: ControlError.self) { try daemon.call(Call.Explain(chain: "noir |")) }
        }
    }

    @Test("explain of a missing file is an error, also in JSON; a file that was moved away is explained with its job")
    func explainEnded() async throws {
        try await DaemonFixture.with { daemon in
            for path in ["inbox/nosuch.jpg", "nosuch.jpg"] {
                for arguments in [[], ["--json"]] {
                    let outcome = try await Programs.run(
                        "pipectl", ["--root", daemon.root.path, "explain", daemon.path(path)] + arguments)
                    #expect(outcome.status == 1 && outcome.output.isEmpty, "\(outcome)")
                    #expect(outcome.errors.contains("there is no file \(daemon.path(path)), as far as"), "\(outcome)")
                    #expect(outcome.errors.hasPrefix("{") == !arguments.isEmpty)
                }
            }
            for id in 1...2 {
                try daemon.drop(Data("no picture".utf8), as: "a/bad.png")
                try await daemon.waitForAll()
                #expect(try daemon.list(["failed"]).count == id)
            }
            try daemon.drop(as: "a/good.png")
            try await daemon.waitForAll()
            for (path, id, state) in [
                ("failed/noir/a/bad.png", 1, "failed"), ("failed/noir/a/bad-1.png", 2, "failed"),
                ("failed/noir/a/bad.png.error.txt", 1, "failed"), ("archive/noir/a/good.png", 3, "done"),
                ("inbox/a/good.png", 3, "done"),
            ] {
                if !path.hasPrefix("inbox") { try await daemon.has(path) }
                let told = try daemon.call(Call.Explain(file: daemon.path(path))).explanation
                #expect(told.job?.id == id && told.recipe == "noir" && told.operations.isEmpty, "\(path): \(told)")
                #expect(told.why.contains("job \(id), which is \(state)"), "\(told.why)")
            }
        }
    }

    @Test("the story and explain say that an animation becomes its first frame")
    func frames() async throws {
        let start = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        func frame(_ pixel: UInt8) -> [UInt8] {
            [0x21, 0xf9, 4, 0, 50, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, pixel, 1, 0]
        }
        let animation = Data(start + frame(0x4c) + frame(0x44) + frame(0x4c) + [0x3b])
        try await DaemonFixture.with { daemon in
            try daemon.drop(animation, as: "move.gif")
            let id = try await daemon.job("move.gif", becomes: "done")
            let story = try daemon.call(Call.Show(id: id)).story
            let header = try #require(story.header)
            #expect(header.hasSuffix(", the first of its 3 frames"), "\(header)")
            #expect(story.job.before?.pages == 3 && story.job.after.map(\.pages) == [1])
            #expect(try await daemon.pipectl("list").output.contains("move.jpg (1 of 3 frames)"))
            #expect(try await daemon.pipectl("list", "--long").output.contains("2 × 2 × 3"))
            try daemon.write(animation, to: "kept.gif")
            let kept = try await daemon.pipectl(
                "add", "--chain", "noir | save format=same pages=all", "--wait", daemon.path("kept.gif"))
            #expect(kept.status == 0, "\(kept)")
            let all = try await daemon.call(Call.Show(id: daemon.job("kept.gif", becomes: "done"))).story
            #expect(all.header?.hasSuffix(", all its 3 frames") == true && all.job.after.map(\.pages) == [3])
            #expect(try await !daemon.pipectl("list").output.contains("kept.gif (1 of"))
            try daemon.write(animation, to: "still.gif")
            let explained = try await daemon.pipectl("explain", daemon.path("still.gif"))
            #expect(explained.output.contains("picture: \(header)\n"), "\(explained)")
        }
    }

    @Test("explain has a worker read a file's header, and shows how the pixels would be decoded")
    func decoding() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.waitForAll()
            let result = daemon.path("outbox/noir/one.jpg")
            let explained = try await daemon.pipectl("explain", result)
            #expect(explained.output.contains("picture: jpeg "))
            // The picture is too small for its decoder to shrink it.
            let decode = "decode: jpeg, greyscale, whole, lanczos3 by zimg (noir needs luma only)"
            #expect(explained.output.contains(decode), "\(explained)")
            let empty = daemon.path("empty.jpg")
            try Data().write(to: URL(fileURLWithPath: empty))
            let refused = try await daemon.pipectl("explain", empty)
            #expect(refused.output.contains("its header is not known: the file is empty"))
            #expect(!refused.output.contains("OPERATION"), "\(refused)")
            #expect(try daemon.list(["failed"]) == [])
        }
    }

    @Test("a rendered job behind a pause of publish waits, with the reason")
    func pausedPublishing() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "publish", reason: "lunch"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "waiting")
            #expect(try daemon.status().queues["publish"]?.waiting == 1)
            #expect(try daemon.list(["waiting"]).map(\.reason) == ["paused: lunch"])
            #expect(try daemon.list(["running"]) == [])
            let jobs = try daemon.status().jobs
            #expect((jobs.waiting, jobs.running) == (1, 0))
            _ = try daemon.call(Call.Resume(queue: "publish"))
            try await daemon.waitForAll()
            #expect(try daemon.list(["done"]).count == 1)
            #expect(try daemon.status().jobs.waiting == 0)
        }
    }

    @Test("an invalid call gets Varlink's error, and the next call is answered")
    func nonsense() async throws {
        try await DaemonFixture.with { daemon in
            let socket = try Socket.connect(daemon.path("run/control.sock"))
            func ask(_ text: String) throws -> [String: Any] {
                try Socket.send(Array(text.utf8) + [0], to: socket)
                var reply: [UInt8] = []
                while reply.last != 0 { reply += try Socket.receive(room: 65536, from: socket).bytes }
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(reply.dropLast())) as? [String: Any])
            }
            #expect(
                try ask(#"{"method":"org.pipelined.Control.Fly"}"#)["error"] as? String
                    == "org.varlink.service.MethodNotFound")
            #expect(
                try ask(#"{"method":"org.other.Thing"}"#)["error"] as? String
                    == "org.varlink.service.InterfaceNotFound")
            #expect(
                try ask(#"{"method":"org.pipelined.Control.Show","parameters":{"id":"seven"}}"#)["error"] as? String
                    == "org.varlink.service.InvalidParameter")
            #expect(try ask(#"{"method":"org.pipelined.Control.Overview"}"#)["parameters"] != nil)
        }
    }
}
