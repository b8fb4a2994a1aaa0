import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Batches and barriers")
struct BatchTests {
    private static let chain = "resize scale=0.5 | tee preview | barrier | noir"

    /// Writes pictures outside all inboxes; returns their paths.
    private func pictures(_ count: Int, _ daemon: DaemonFixture) throws -> [String] {
        try (1...count).map { number in
            let name = "mine/\(number).png"
            try daemon.write(Picture.small, to: name)
            return daemon.path(name)
        }
    }

    private func add(_ files: [String], through chain: String = chain, to daemon: DaemonFixture) async throws -> [Int] {
        let outcome = try await Programs.run(
            "pipectl", ["--root", daemon.root.path, "add"] + files + ["--chain", chain, "--json"])
        return try outcome.objects().compactMap { $0["id"] as? Int }
    }

    private static func isEnd(_ event: Control.Event) -> Bool { event.kind == "batch" && event.text == "ended" }

    /// Returns a word for each event: the text of a batch event, "picture" for a picture event, and the job's state for
    /// any other event. The state "waiting" is replaced with "at barrier".
    private func words(_ events: [Control.Event]) -> [String] {
        events.compactMap { event in
            switch event.kind {
            case "batch": event.text
            case "picture": "picture"
            default: event.job.map { $0.state == "waiting" ? "at barrier" : $0.state }
            }
        }
    }

    @Test(
        "a barrier does not wait for a job that depends on another of its batch, which is not announced separately")
    func afterOwn() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            #expect(try await add(pictures(3, daemon), to: daemon) == [1, 2, 3])
            #expect(try await daemon.pipectl("depend", "3", "--after", "2").status == 0)
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "auto"))
            let events = try await daemon.events(since: 0, until: Self.isEnd)
            #expect(events.last?.batch?.done == 3)
            #expect(words(events).filter { ["arrived", "ended"].contains($0) } == ["arrived", "ended"])
            // A done job can't get dependencies any more.
            #expect(try await daemon.pipectl("depend", "2", "--after", "1").errors.contains("job 2 is done"))
        }
    }

    @Test("all jobs are rendered up to the barrier, the batch is announced once, then each job continues")
    func order() async throws {
        try await DaemonFixture.with { daemon in
            let ids = try await add(pictures(5, daemon), to: daemon)
            #expect(ids.count == 5)
            let events = try await daemon.events(since: 0, until: Self.isEnd)
            let words = words(events)
            let arrived = try #require(words.firstIndex(of: "arrived"))
            #expect(words[..<arrived].count { $0 == "at barrier" } == 5)
            #expect(!words[..<arrived].contains("picture"))
            #expect(words[arrived...].count { $0 == "picture" } == 5)
            #expect(words.count { $0 == "arrived" } == 1)
            #expect(words.count { $0 == "ended" } == 1)
            let batch = try #require(events.last?.batch)
            #expect(batch.done == 5 && !batch.open)
            #expect(
                daemon.files(in: "outbox/chain").filter { !$0.hasPrefix(".") }.sorted()
                    == (1...5).flatMap { ["\($0).jpg", "\($0).preview.jpg"] }.sorted())
            await daemon.stop()
            #expect(daemon.files(in: "outbox").allSatisfy { !$0.contains(".staging/") })
        }
    }

    @Test("a batch that exceeds the window passes its barrier")
    func larger() async throws {
        let files = ["etc/pipelined.conf": "[Queues]\nWindow=4\n"]
        try await DaemonFixture.with(files) { daemon in
            _ = try await add(pictures(30, daemon), to: daemon)
            let events = try await daemon.events(since: 0, until: Self.isEnd)
            #expect(events.last?.batch?.done == 30)
            #expect(words(events).count { $0 == "arrived" } == 1)
        }
    }

    @Test("when a job fails or is cancelled, the batch's other jobs pass the barrier")
    func missing() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.write(Data("text".utf8), to: "mine/bad.png")
            let files = try pictures(3, daemon)
            let ids = try await add([daemon.path("mine/bad.png")] + files, to: daemon)
            _ = try daemon.call(Call.Cancel(ids: [ids[1]]))
            _ = try daemon.call(Call.Resume())
            let batch = try #require(try await daemon.events(since: 0, until: Self.isEnd).last?.batch)
            #expect(batch.failed == 1 && batch.cancelled == 1 && batch.done == 2)
        }
    }

    @Test("a client that is still adding jobs holds the barrier, and one that disconnects releases it")
    func open() async throws {
        try await DaemonFixture.with { daemon in
            var client: ControlClient? = try daemon.client()
            let batch = try #require(try client?.call(Call.NewBatch()).batch)
            for file in try pictures(2, daemon) {
                let picture = try Descriptor.open(file, O_RDONLY)
                _ = try client?.call(
                    Call.Add(name: "a.png", chain: "barrier | noir", batch: batch), descriptors: [picture])
            }
            try await daemon.event { $0.job?.id == 2 && $0.job?.state == "waiting" }
            let job = try #require(try daemon.list(["waiting"]).last)
            #expect(job.reason == "barrier: waits for the others of batch \(batch)")
            #expect(try !daemon.call(Call.Watch(cursor: 0)).events.contains { $0.kind == "batch" })
            client = nil
            #expect(try await daemon.events(since: 0, until: Self.isEnd).last?.batch?.done == 2)
        }
    }

    @Test("jobs that wait at a barrier continue from there after the daemon was stopped or killed", arguments: [15, 9])
    func restart(signal: Int32) async throws {
        try await DaemonFixture.with { daemon in
            let client = try daemon.client()
            let batch = try client.call(Call.NewBatch()).batch
            for (number, file) in try pictures(3, daemon).enumerated() {
                let picture = try Descriptor.open(file, O_RDONLY)
                _ = try client.call(
                    Call.Add(name: "\(number).png", chain: Self.chain, batch: batch), descriptors: [picture])
            }
            for id in 1...3 {
                try await daemon.event { $0.job?.id == id && $0.job?.state == "waiting" }
            }
            await daemon.stop(signal)
            try await daemon.start()
            let events = try await daemon.events(since: 0, until: Self.isEnd)
            #expect(events.last?.batch?.done == 3)
            // The stages before the barrier are not rendered again.
            let before = events.prefix { $0.kind != "batch" }
            #expect(before.count { $0.job?.state == "running" } == 3)
            #expect(daemon.files(in: "outbox/chain").count { !$0.hasPrefix(".") } == 6)
        }
    }

    @Test("jobs at a barrier are cancelled with all their files")
    func cancelled() async throws {
        try await DaemonFixture.with { daemon in
            let client = try daemon.client()
            let batch = try client.call(Call.NewBatch()).batch
            let file = try #require(try pictures(1, daemon).first)
            let picture = try Descriptor.open(file, O_RDONLY)
            _ = try client.call(Call.Add(name: "a.png", chain: Self.chain, batch: batch), descriptors: [picture])
            try await daemon.event { $0.job?.state == "waiting" }
            #expect(daemon.files(in: "outbox").count { $0.contains(".staging/") } == 2)
            _ = try daemon.call(Call.CancelAll())
            await daemon.stop()
            #expect(daemon.files(in: "outbox").filter { $0.contains(".staging/") } == [])
            #expect(daemon.files(in: "cancelled/chain") == ["a.png"])
            try await daemon.start()
            #expect(try await daemon.events(since: 0, until: Self.isEnd).last?.batch?.cancelled == 1)
        }
    }

    @Test("a picture without a batch does not wait")
    func alone() async throws {
        let files = ["etc/recipes.d/noir.recipe": "[Output]\nChain=resize scale=0.5 | tee half | barrier | noir\n"]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "done")
            #expect(daemon.files(in: "outbox/noir") == ["one.half.jpg", "one.jpg"])
        }
    }
}
