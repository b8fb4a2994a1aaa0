import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Batches by number and name")
struct BatchNameTests {
    /// Runs `body` with one batch for each name. Each batch has one job, which waits to be rendered.
    private func withBatches(_ names: String?..., body: (DaemonFixture) async throws -> Void) async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try daemon.write(Picture.small, to: "mine/a.png")
            let client = try daemon.client()
            for name in names {
                let batch = try client.call(Call.NewBatch(name: name)).batch
                let picture = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
                _ = try client.call(Call.Add(name: "a.png", batch: batch), descriptors: [picture])
                _ = try client.call(Call.CloseBatch(batch: batch))
            }
            try await body(daemon)
        }
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("a name finds its newest batch, a number is tried as a number first, and a wrong name gets a suggestion")
    func found() async throws {
        try await withBatches("lucerne", "2", "lucerne", "99") { (daemon) async throws in
            func find(_ word: String) throws -> [Int] {
                let reply = try daemon.call(Call.FindBatch(batch: word))
                return [reply.batch.id, reply.others]
            }
            #expect(try find("lucerne") == [3, 1])
            #expect(try find("1") == [1, 0])
            #expect(try find("2") == [2, 0])
            #expect(try find("99") == [4, 0])
            let near = refusal { _ = try find("lucern") }
            #expect(near == "there is no batch 'lucern'; did you mean 'lucerne'?; `pipectl batches` lists them")
            #expect(refusal { _ = try find("0") } == "there is no batch '0'; `pipectl batches` lists them")
            for name in ["", String(repeating: "x", count: 256)] {
                let why = refusal { _ = try daemon.call(Call.NewBatch(name: name)) }
                #expect(why == "a batch's name has 1 to 255 bytes; this one has \(name.utf8.count)")
            }
        }
    }

    @Test("Batches lists the unfinished batches and the newest ended ones, in several replies")
    func listed() async throws {
        try await withBatches(nil, "lucerne", nil, "lucerne") { daemon in
            let client = try daemon.client()
            let empty = try client.call(Call.NewBatch(name: "nothing")).batch
            #expect(try client.call(Call.FindBatch(batch: "nothing")).batch.recipe == nil)
            func ids(_ call: Call.Batches) throws -> [Int] {
                var ids: [Int] = []
                try client.stream(call) { reply in
                    ids += reply.batches.map(\.id)
                    return true
                }
                #expect(try ids == daemon.call(call).batches.map(\.id))
                return ids
            }
            // `Batches` also lists an open batch without jobs, because clients may still add jobs to it.
            #expect(try ids(Call.Batches()) == [1, 2, 3, 4, 5])
            _ = try client.call(Call.CloseBatch(batch: empty))
            try await daemon.event { $0.batch?.id == empty && $0.text == "ended" }
            #expect(try ids(Call.Batches()) == [1, 2, 3, 4])
            #expect(try ids(Call.Batches(name: "lucerne")) == [2, 4])
            #expect(try ids(Call.Batches(limit: 1)) == [1, 2, 3, 4])
            _ = try client.call(Call.CancelMatching(batch: 1, recipe: nil, states: []))
            try await daemon.event { $0.batch?.id == 1 && $0.text == "ended" }
            #expect(try ids(Call.Batches(limit: 1)) == [2, 3, 4])
            #expect(try ids(Call.Batches(limit: 4)) == [1, 2, 3, 4])
            for (limit, isPart) in [(1, true), (3, true), (4, false), (5, false)] {
                #expect(try client.call(Call.Batches(limit: limit)).isPart == isPart, "\(limit)")
            }
            let first = try #require(try client.call(Call.Batches()).batches.first)
            #expect(first.recipe == "noir" && first.cancelled == 1 && first.ended != nil && first.created != nil)
            #expect(refusal { _ = try daemon.call(Call.Batches(limit: 0)) }.contains("begins at 1"))
        }
    }

    @Test("list, priority, cancel and watch accept a batch's name, and completion offers names beside numbers")
    func verbs() async throws {
        try await withBatches("lucerne", "tokyo") { daemon in
            let list = try await daemon.pipectl("list", "--batch", "lucerne", "--json").objects()
            #expect(list.map { $0["batch"] as? Int } == [1])
            #expect(
                try await daemon.pipectl("priority", "--batch", "tokyo", "high").lines == ["1 job with priority high"])
            #expect(try await daemon.pipectl("cancel", "--batch", "lucerne").lines == ["cancelled 1 job"])
            let watched = try await daemon.pipectl("watch", "--batch", "lucerne", "--since", "0", "--json")
            #expect(watched.status == 1)
            #expect(try watched.objects().compactMap { $0["text"] as? String }.last == "ended")
            let wrong = try await daemon.pipectl("cancel", "--batch", "tokio")
            #expect(wrong.status == 2 && wrong.errors.contains("did you mean 'tokyo'?"))
            #expect(
                try await daemon.pipectl("complete", "--", "--root", daemon.root.path, "list", "--batch", "").lines == [
                    "2\ttokyo: 1 queued", "1\tlucerne: 1 cancelled", "tokyo\tbatch 2: 1 queued",
                    "lucerne\tbatch 1: 1 cancelled",
                ])
            let page = try await daemon.pipectl("batches")
            #expect(page.lines.count == 3 && page.lines[2].hasSuffix("1 queued"))
        }
    }
}
