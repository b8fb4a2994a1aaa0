import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Progress")
struct ProgressTests {
    private static let picture = Picture.png(width: 400, height: 300)

    private static func withDaemon(_ more: String = "", _ body: (DaemonFixture) async throws -> Void) async throws {
        let configuration =
            "[Download]\nAllowPrivateHosts=127.0.0.1\nPerHost=20\nRetries=0\n[Daemon]\nRetries=0\n\(more)\n"
        try await DaemonFixture.with(["etc/pipelined.conf": configuration], body)
    }

    /// Sends half of a picture at once, and the rest when the gate is open. The response for `/unknown` has no length,
    /// and `/lost` does not exist.
    private static func server(_ gate: Gate) throws -> HTTPServer {
        try HTTPServer { request, connection in
            if request.path.hasPrefix("/lost") { return try connection.reply(404) }
            let isKnown = !request.path.hasPrefix("/unknown")
            try connection.begin(200, isKnown ? ["Content-Length": "\(picture.count)"] : ["Connection": "close"])
            try connection.write(picture.prefix(picture.count / 2))
            gate.wait()
            try connection.write(picture.dropFirst(picture.count / 2))
            if !isKnown { connection.close() }
        }
    }

    /// Adds URLs; returns their job IDs and their batch.
    private func add(_ urls: [String], to daemon: DaemonFixture) async throws -> (ids: [Int], batch: Int) {
        let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "add", "--json"] + urls)
        let jobs = try outcome.objects()
        return (jobs.compactMap { $0["id"] as? Int }, try #require(jobs.first?["batch"] as? Int))
    }

    @Test("a download reports its bytes, and a total only if the server does; the batch's end closes the stream")
    func downloads() async throws {
        let gate = Gate()
        let server = try Self.server(gate)
        try await Self.withDaemon { daemon in
            let (ids, batch) = try await add([server.url("/known.png"), server.url("/unknown.png")], to: daemon)
            let half = Self.picture.count / 2
            let told = try await daemon.progress(of: batch) { reply in
                reply.jobs.count == 2 && reply.jobs.allSatisfy { $0.progress?.done == half }
            }
            let now = try #require(told.last)
            let (known, unknown) = (now.jobs[0], now.jobs[1])
            #expect(known.job.id == ids[0] && known.operation == "download" && known.progress?.unit == "bytes")
            #expect(known.progress?.total == Self.picture.count)
            #expect(abs((known.progress?.fraction ?? 0) - 0.5) < 0.01)
            #expect(abs(known.fraction - 0.225) < 0.01)
            #expect(unknown.progress?.total == nil && unknown.progress?.fraction == nil)
            #expect(unknown.progress?.remaining == nil && unknown.fraction == 0)
            let figures = try #require(now.batches.first?.progress)
            #expect((figures.unit, figures.done, figures.total) == ("jobs", 0, 2))
            #expect(abs((figures.fraction ?? 0) - 0.1125) < 0.01)
            // The job's story and the daemon's status report the same progress.
            let story = try daemon.call(Call.Show(id: ids[0])).story
            #expect(story.operations.first { $0.kind == "download" }?.progress?.done == half)
            let (page, status) = (try await daemon.pipectl("show", "\(ids[0])"), try await daemon.pipectl("status"))
            #expect(page.output.contains(" % of 360 kB"), "\(page.output)")
            #expect(status.output.contains("known.png") && status.output.contains("0 of 2"), "\(status.output)")
            gate.open()
            let last = try #require(try await daemon.progress(of: batch).last)
            #expect(last.unfinished == 0 && last.running == 0)
            #expect(last.batches.first?.progress.fraction == 1)
            #expect(last.batches.first?.batch.done == 2)
        }
    }

    @Test("a failed job counts as ended; watch --batch reports only its batch, and failures by its exit code")
    func failing() async throws {
        let gate = Gate(isOpen: true)
        let server = try Self.server(gate)
        try await Self.withDaemon { daemon in
            try daemon.drop(as: "other.png")
            let (ids, batch) = try await add([server.url("/a.png"), server.url("/lost.png")], to: daemon)
            let outcome = try await daemon.pipectl(
                "watch", "--batch", "\(batch)", "--since", "0", "--json", "--progress")
            #expect(outcome.status == 1)
            let lines = try outcome.objects()
            let events = lines.filter { $0["cursor"] != nil }
            #expect(Set(events.compactMap { ($0["job"] as? [String: Any])?["id"] as? Int }) == Set(ids))
            #expect(events.contains { $0["kind"] as? String == "batch" && $0["text"] as? String == "ended" })
            let progress = try #require(lines.last { $0["cursor"] == nil })
            #expect(progress["unfinished"] as? Int == 0)
            let figures = try #require(try daemon.call(Call.Progress(batch: batch)).batches.first)
            #expect(figures.progress.done == 2 && figures.batch.failed == 1 && figures.progress.fraction == 1)
            #expect(figures.progress.rate == nil && figures.progress.remaining == nil)
            // If the batch has already ended, `watch` exits at once.
            #expect(try await daemon.pipectl("watch", "--batch", "\(batch)").status == 1)
        }
    }

    @Test("a render reports the pixels that it has read, in growing numbers, and can be cancelled")
    func render() async throws {
        let files = [
            "etc/recipes.d/noir.recipe": "[Output]\nChain=resize scale=1.5 kernel=lanczos3 | save format=png\n"
        ]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Picture.tiff(width: 6000, height: 8000), as: "big.tif")
            let told = try await daemon.progress { reply in (reply.jobs.first?.progress?.fraction ?? 0) > 0.05 }
            let job = try #require(told.last?.jobs.first)
            #expect(job.operation == "render" && job.progress?.unit == "pixels")
            #expect(job.progress?.total == 6000 * 8000)
            let done = told.compactMap { $0.jobs.first?.progress?.done }
            #expect(done == done.sorted())
            #expect(told.last?.others.total == 1 && told.last?.others.done == 0)
            _ = try daemon.call(Call.Cancel(ids: [job.job.id]))
            try await daemon.job("big.tif", becomes: "cancelled")
            let after = try daemon.call(Call.Progress())
            #expect(after.jobs.isEmpty && after.running == 0)
        }
    }

    @Test("queued jobs are counted from the ledger, even after a restart; there is no estimate while all is paused")
    func rows() async throws {
        let server = try Self.server(Gate(isOpen: true))
        try await Self.withDaemon { daemon in
            _ = try daemon.call(Call.Pause(queue: "download"))
            let (_, batch) = try await add((1...300).map { server.url("/\($0).png") }, to: daemon)
            for _ in 1...2 {
                let all = try daemon.call(Call.Progress())
                #expect(all.jobs.isEmpty && all.running == 0 && all.unfinished == 1)
                let figures = try #require(all.batches.first?.progress)
                #expect((figures.done, figures.total, figures.fraction) == (0, 300, 0))
                #expect(figures.rate == nil && figures.remaining == nil)
                #expect(all.others.total == 0)
                await daemon.stop(9)
                try await daemon.start()
            }
            #expect(try await daemon.pipectl("cancel", "--batch", "\(batch)").status == 0)
            let last = try #require(try await daemon.progress(of: batch).last)
            #expect(last.batches.first?.progress.done == 300)
            #expect(last.batches.first?.batch.cancelled == 300)
        }
    }

    @Test("a job at a barrier has made its progress up to there")
    func barrier() async throws {
        let gate = Gate()
        let server = try HTTPServer { request, connection in
            if request.path.hasPrefix("/held") { gate.wait() }
            try connection.reply(200, [:], Picture.small)
        }
        let files = [
            "etc/recipes.d/noir.recipe": "[Output]\nChain=resize scale=0.5 | barrier | noir\n",
            "etc/pipelined.conf": "[Download]\nAllowPrivateHosts=127.0.0.1\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            let urls = [server.url("/a.png"), server.url("/b.png"), server.url("/held.png")]
            let (ids, batch) = try await add(urls, to: daemon)
            let now = try #require(
                try await daemon.progress(of: batch) { $0.batches.first?.batch.waiting == 2 && $0.jobs.count == 1 }.last
            )
            #expect(now.jobs.map(\.job.id) == [ids[2]])
            #expect(abs((now.batches.first?.progress.fraction ?? 0) - 1.0 / 3) < 0.01)
            gate.open()
            #expect(try await daemon.progress(of: batch).last?.batches.first?.progress.done == 3)
        }
    }

    @Test("an unknown batch is refused with its number")
    func unknown() async throws {
        try await DaemonFixture.with { daemon in
            for words in [["watch", "--batch", "77"], ["watch", "--batch", "77", "--json"]] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path] + words)
                #expect(outcome.status == 2)
                #expect(outcome.errors.contains("there is no batch '77'"))
            }
        }
    }

    @Test("a slow reader gets the newest progress, and is told of the batch's end")
    func slow() async throws {
        let server = try Self.server(Gate(isOpen: true))
        try await Self.withDaemon { daemon in
            _ = try daemon.call(Call.Pause(queue: "download"))
            let (_, batch) = try await add((1...40).map { server.url("/\($0).png") }, to: daemon)
            let client = try daemon.client()
            try client.start(Call.Progress(batch: batch))
            _ = try daemon.call(Call.Resume(queue: nil))
            try await daemon.waitForAll()
            // The client reads its first reply only now.
            var (told, isOver) = try client.receive(Call.Progress.self)
            while !isOver {
                let more = try client.receive(Call.Progress.self)
                (told, isOver) = (told + more.replies, more.isOver)
            }
            #expect(told.last?.batches.first?.progress.done == 40)
            #expect(told.last?.unfinished == 0)
        }
    }

    @Test("a watching client that disconnects leaves nothing behind, and the next client still gets its reports")
    func abandoned() async throws {
        try await DaemonFixture.with { daemon in
            for _ in 0..<20 {
                let client = try daemon.client()
                try client.start(Call.Progress())
                _ = try client.receive(Call.Progress.self)
            }
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            #expect(try await daemon.progress { _ in true }.first?.unfinished == 0)
            #expect(await daemon.stop() == 0)
        }
    }
}
