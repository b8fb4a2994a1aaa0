import Foundation
import PipelineControl
import TestTools
import Testing

/// Checks the order of operations in the log. The list of URLs is job 1, and its pictures are jobs 2 to 21.
@Suite("The operations of 20 URLs")
struct TraceTests {
    private static let jobs = 2...21
    private static let barrier = "resize scale=0.5 | tee preview | barrier | noir"
    private static let plain = "resize scale=0.5 | noir"

    private static func withDaemon(_ chain: String, _ body: (DaemonFixture) async throws -> Void) async throws {
        let configuration = """
            [Daemon]
            Log=operations
            [Queues]
            Download=20
            [Download]
            AllowPrivateHosts=127.0.0.1
            PerHost=20
            Retries=0
            """
        try await DaemonFixture.with(
            ["etc/pipelined.conf": configuration, "etc/recipes.d/noir.recipe": "[Output]\nChain=\(chain)\n"], body)
    }

    /// Checks that each operation has ended exactly once; returns the final states by operation.
    private func ends(_ trace: [TraceLine]) -> [String: String] {
        var ends: [String: String] = [:]
        for line in trace where line.isEnd {
            #expect(ends.updateValue(line.state, forKey: line.operation) == nil, "\(line) is a second end")
        }
        let begun = trace.filter { $0.state == "pending" }.map(\.operation)
        #expect(Set(begun).count == begun.count)
        #expect(Set(begun) == Set(ends.keys))
        return ends
    }

    @Test("each picture is downloaded and resized, the batch is announced once, then each gets noir and is announced")
    func undisturbed() async throws {
        let server = try SlowServer(pictures: 20)
        try await Self.withDaemon(Self.barrier) { daemon in
            try daemon.drop(server.list, as: "list.urls")
            await server.until(asked: 20, coming: 20)
            // The downloads finish in reverse order. Pictures are rendered as they arrive, not in the order of the
            // list.
            for number in (1...20).reversed() {
                server.finish(number)
                try await daemon.operation("render job \(number + 1)", becomes: "finished")
            }
            try await daemon.operation("announce batch 1 ended", becomes: "finished")
            let trace = daemon.trace
            let ends = ends(trace)
            #expect(Set(ends.values) == ["finished"])
            #expect(ends.count == 20 * 5 + 2)
            for job in Self.jobs {
                let order =
                    ["download job \(job)", "render job \(job)", "announce batch 1 arrived"]
                    + ["render job \(job) behind barrier 1", "publish job \(job)", "announce job \(job)"]
                    + ["announce batch 1 ended"]
                let wanted = order.flatMap { [TraceLine($0, "executing"), TraceLine($0, "finished")] }
                #expect(trace.filter { wanted.contains($0) } == wanted)
            }
            let downloads = trace.filter { $0.operation.hasPrefix("download") && $0.state == "finished" }
            #expect(downloads.map(\.operation) == Self.jobs.reversed().map { "download job \($0)" })
        }
    }

    @Test(
        "cancel-all keeps finished operations, cancels all others exactly once, and nothing begins afterwards",
        arguments: [(barrier, true), (plain, false), (barrier, false)])
    func cancelAll(chain: String, renders: Bool) async throws {
        let gate = Gate()
        let server = try HTTPServer { request, connection in
            if ["/1.png", "/2.png", "/3.png", "/4.png"].contains(request.path) {
                gate.wait()
                return try connection.reply(200, [:], Picture.small)
            }
            try connection.begin(200, ["Content-Length": "\(Picture.small.count)"])
            try connection.write(Picture.small.dropLast())
            connection.waitForClose()
        }
        let urls = (1...20).map { server.url("/\($0).png") }
        try await Self.withDaemon(chain) { daemon in
            if !renders { _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0")) }
            try daemon.drop(Data(urls.joined(separator: "\n").utf8), as: "list.urls")
            await server.until { $0.busy == 20 }
            gate.open()
            for job in 2...5 {
                try await daemon.operation("download job \(job)", becomes: "finished")
                if renders { try await daemon.event { $0.job?.id == job && $0.job?.state == "waiting" } }
            }
            let outcome = try await daemon.pipectl("cancel-all", "--json")
            #expect(try outcome.document()["cancelled"] as? Int == 20)
            // The pause writes a line to the log, after the lines of all operations that began before the command
            // returned.
            _ = try daemon.call(Call.Pause(reason: "the command has returned"))
            // The fetch worker also closes connections that it kept open for later downloads.
            await server.until { $0.open == 0 }
            let events = try await daemon.events(since: 0) { $0.kind == "batch" }
            let batch = events.filter { $0.kind == "batch" }
            #expect(batch.map(\.text) == ["ended"])
            #expect(batch.first?.batch?.cancelled == 20)
            let cancelled = events.filter { $0.kind == "job" && $0.job?.state == "cancelled" }
            #expect(cancelled.compactMap(\.job?.id).sorted() == Array(Self.jobs))
            await daemon.stop()

            let ends = ends(daemon.trace)
            var wanted = ["announce batch 1 ended": "finished"]
            for job in Self.jobs {
                wanted["download job \(job)"] = job <= 5 ? "finished" : "cancelled"
                wanted["render job \(job)"] = job <= 5 && renders ? "finished" : "cancelled"
                // Operations behind a barrier are created only once the batch has passed the barrier.
                guard chain == Self.plain else { continue }
                for queue in ["publish", "announce"] { wanted["\(queue) job \(job)"] = "cancelled" }
            }
            #expect(ends == wanted)
            let log = daemon.log
            let returned = try #require(log.range(of: "the command has returned"))
            // After the command has returned, only the announcement of the batch's end may begin, because it waits
            // until the daemon has moved the originals.
            let begun = TraceLine.all(in: log[returned.upperBound...]).filter { $0.state == "executing" }
            #expect(begun.allSatisfy { $0.operation == "announce batch 1 ended" })

            #expect(daemon.files(in: "outbox") == [])
            #expect(daemon.files(in: "state/spool") == [])
            #expect(daemon.files(in: "inbox") == [])
            let originals = daemon.files(in: "cancelled")
            #expect(originals == (1...4).map { "noir/\($0).png" })
            for original in originals { #expect(try daemon.data("cancelled/\(original)") == Picture.small) }
        }
    }

    @Test("a chain that begins with a barrier waits there until the whole batch has been downloaded")
    func barrierFirst() async throws {
        let server = try SlowServer(pictures: 3)
        try await Self.withDaemon("barrier | noir") { daemon in
            try daemon.drop(server.list, as: "list.urls")
            for (number, job) in [(1, 2), (3, 4)] {
                server.finish(number)
                try await daemon.event { $0.job?.id == job && $0.job?.state == "waiting" }
            }
            #expect(try daemon.list(["running"]).map(\.id) == [3])
            #expect(try !daemon.call(Call.Watch(cursor: 0)).events.contains { $0.kind == "batch" })
            server.finish(2)
            try await daemon.operation("announce batch 1 ended", becomes: "finished")
            let trace = daemon.trace
            #expect(Set(ends(trace).values) == ["finished"])
            let arrived = try #require(trace.firstIndex(of: TraceLine("announce batch 1 arrived", "executing")))
            #expect(trace[..<arrived].count { $0.operation.hasPrefix("download") && $0.state == "finished" } == 3)
            #expect(trace[arrived...].count { $0.operation.hasSuffix("barrier 1") && $0.state == "finished" } == 3)
            #expect(daemon.files(in: "outbox/noir").count { !$0.hasPrefix(".") } == 3)
        }
    }

    @Test("an operation that depends on a failed one is cancelled without starting")
    func failed() async throws {
        let server = try HTTPServer { request, connection in
            try connection.reply(request.path == "/lost.png" ? 404 : 200, [:], Data("no picture".utf8))
        }
        try await Self.withDaemon(Self.plain) { daemon in
            try daemon.drop(Data("\(server.url("/lost.png"))\n\(server.url("/text.png"))".utf8), as: "list.urls")
            try await daemon.event { $0.kind == "batch" }
            await daemon.stop()
            let trace = daemon.trace
            let ends = ends(trace)
            let queues = ["download", "render", "publish", "announce"]
            #expect(queues.map { ends["\($0) job 2"] } == ["failed", "cancelled", "cancelled", "cancelled"])
            #expect(queues.map { ends["\($0) job 3"] } == ["finished", "failed", "cancelled", "cancelled"])
            let begun = trace.filter { $0.state == "executing" && $0.operation.contains("job") }.map(\.operation)
            #expect(Set(begun) == ["download job 2", "download job 3", "render job 3"])
        }
    }

    @Test("the log contains operations once a reload has read Log=operations, and not before")
    func reload() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.kind == "picture" }
            try daemon.write("[Daemon]\nLog=operations\n", to: "etc/pipelined.conf")
            #expect(try await daemon.pipectl("reload").status == 0)
            try daemon.drop(as: "two.png")
            try await daemon.operation("announce job 2", becomes: "finished")
            #expect(!daemon.trace.contains { $0.operation.hasSuffix("job 1") && $0.state == "executing" })
        }
    }

    @Test(
        "a new limit of downloads takes effect at once: one in order, then six, then two as others end, then none"
    )
    func concurrency() async throws {
        let server = try SlowServer(pictures: 20)
        try await Self.withDaemon(Self.plain) { daemon in
            func limit(_ number: Int) async throws {
                #expect(try await daemon.pipectl("concurrency", "download", "\(number)").status == 0)
            }
            try await limit(1)
            try daemon.drop(server.list, as: "list.urls")
            for number in 1...4 {
                await server.until(asked: number, coming: 1)
                server.finish(number)
            }
            await server.until(asked: 5, coming: 1)
            try await daemon.operation("download job 6", becomes: "executing")
            #expect(server.http.seen.mostBusy == 1)
            #expect(server.asked == Array(1...5))
            let expected = (2...5).flatMap { ["\($0): executing", "\($0): finished"] } + ["6: executing"]
            let steps = daemon.trace.filter {
                $0.operation.hasPrefix("download") && ["executing", "finished"].contains($0.state)
            }
            #expect(steps.map(\.description) == expected.map { "download job \($0)" })

            try await limit(6)
            await server.until(asked: 10, coming: 6)
            server.finish(5)
            await server.until(asked: 11, coming: 6)
            #expect(server.http.seen.mostBusy == 6)

            try await limit(2)
            for number in 6...9 {
                server.finish(number)
                try await daemon.operation("download job \(number + 1)", becomes: "finished")
            }
            await server.until(asked: 11, coming: 2)
            server.finish(10)
            await server.until(asked: 12, coming: 2)

            try await limit(0)
            for number in 11...12 {
                server.finish(number)
                try await daemon.operation("announce job \(number + 1)", becomes: "finished")
            }
            #expect(try daemon.status().queues["download"]?.running == 0)
            #expect(server.http.seen.busy == 0)
            #expect(daemon.trace.count { $0.operation.hasPrefix("download") && $0.state == "executing" } == 12)
            #expect(server.asked.count == 12)

            try await limit(20)
            await server.until(asked: 20, coming: 8)
            for number in 13...20 { server.finish(number) }
            try await daemon.waitForAll()
            #expect(Set(server.asked) == Set(1...20))
            #expect(daemon.files(in: "outbox/noir").count == 20)
        }
    }
}
