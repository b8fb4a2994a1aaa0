import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Lost workers and exhausted memory")
struct WorkerLossTests {
    /// A recipe whose render keeps a worker busy for more than a second.
    private static let slow = ["etc/recipes.d/slow.recipe": "[Recipe]\nInbox=slow\n[Output]\nChain=save format=avif\n"]
    private static let long = Picture.tiff(width: 900, height: 700)

    @Test(
        "a worker that is killed during a render costs only a retry, and no other job is affected",
        arguments: [SIGSEGV, SIGKILL, SIGSTOP, SIGABRT])
    func lostOnce(signal: Int32) async throws {
        try await DaemonFixture.with(Self.slow.merging(["etc/pipelined.conf": "[Queues]\nRender=2\n"]) { $1 }) {
            daemon in
            try daemon.drop(Self.long, as: "long.tif", inbox: "inbox/slow")
            try daemon.drop(Self.long, as: "beside.tif", inbox: "inbox/slow")
            let lost = try await daemon.worker(holding: "long.tif")
            let beside = try await daemon.worker(holding: "beside.tif")
            #expect(lost != beside)
            kill(lost, signal)
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == ["done", "done"])
            for job in jobs {
                let tries = try daemon.call(Call.Show(id: job.id)).story.tries
                #expect(tries == (job.input == "long.tif" ? 2 : 1), "\(job.input)")
            }
        }
    }

    @Test(
        "a picture that kills its worker twice fails, and the reason names the signal",
        arguments: [
            ("raise(SIGSEGV); return 0;", "Segmentation fault"), ("raise(SIGSTOP); return 0;", "Stopped"),
            ("abort();", "Aborted"),
            // The worker's memory limit is higher than any estimate, but lower than what this loop allocates.
            ("for (;;) { char *p = malloc(1 << 26); memset(p, 1, 1 << 26); }", "Segmentation fault"),
        ])
    func lostTwice(body: String, reason: String) async throws {
        let recipe = ["etc/recipes.d/fatal.recipe": "[Recipe]\nInbox=fatal\n[Output]\nChain=fatal | save\n"]
        try await DaemonFixture.with(recipe, started: false) { daemon in
            try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try Plugin(name: "fatal", body: body).compile(to: daemon.path("plugins/fatal.so"))
            try await daemon.start()
            try daemon.drop(as: "bad.png", inbox: "inbox/fatal")
            for number in 1...5 { try daemon.drop(as: "good-\(number).png") }
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            let bad = try #require(jobs.first { $0.input == "bad.png" })
            #expect(bad.state == "failed")
            let culprit = "the filter 'fatal' (\(daemon.path("plugins/fatal.so")))"
            #expect(bad.error?.hasPrefix("\(culprit) took its worker down twice; the second ") == true, "\(bad)")
            #expect(bad.error?.contains(reason) == true, "\(bad.error ?? "")")
            #expect(try daemon.call(Call.Show(id: bad.id)).story.tries == 2)
            #expect(jobs.filter { $0.state == "done" }.count == 5)
            await daemon.stop()
            #expect(daemon.files(in: "failed") == ["fatal/bad.png", "fatal/bad.png.error.txt"])
            #expect(daemon.files(in: "outbox/fatal") == [])
        }
    }

    @Test("a picture that kills its worker twice while its header is read fails as well")
    func lostAtOpen() async throws {
        try await DaemonFixture.with(["state/id": "test\n"], started: false) { daemon in
            // strace kills every worker that reads this file. The daemon itself never reads it.
            try await daemon.start(under: [
                "/usr/bin/strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P",
                daemon.path("inbox/.pipelined/test/0/bad.png"),
                "-e", "inject=read,pread64,lseek,mmap:signal=SEGV",
            ])
            try daemon.drop(as: "bad.png")
            try daemon.drop(as: "good.png")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(Set(jobs.map { "\($0.input) \($0.state)" }) == ["bad.png failed", "good.png done"])
            #expect(jobs.contains { $0.error?.hasPrefix("took its worker down twice") == true })
        }
    }

    @Test("jobs that were running at a crash of the daemon are retried one by one")
    func oneByOne() async throws {
        try await DaemonFixture.with(Self.slow.merging(["etc/pipelined.conf": "[Queues]\nRender=2\n"]) { $1 }) {
            daemon in
            let names = ["one.tif", "two.tif"]
            for name in names { try daemon.drop(Self.long, as: name, inbox: "inbox/slow") }
            for name in names { _ = try await daemon.worker(holding: name) }
            // Remember the event cursor now, because the next daemon may restore the jobs before a client can call it.
            let crashed = try daemon.status().cursor
            await daemon.stop(SIGKILL)
            try await daemon.start()
            try await daemon.waitForAll()
            let last = try daemon.status().cursor
            let events = try await daemon.events(since: crashed) { $0.cursor >= last }.filter { $0.kind == "job" }
            // Either of the two pictures may reach a worker first. The other picture waits until the first one is done.
            let told = events.map { "\($0.job?.input ?? "") \($0.job?.state ?? "")" }
            let second = try #require(names.first { told.contains("\($0) waiting") }, "\(told)")
            let first = try #require(names.first { $0 != second })
            let ended = try #require(told.firstIndex(of: "\(first) done"), "\(told)")
            let begun = try #require(told.lastIndex(of: "\(second) running"), "\(told)")
            #expect(begun > told.firstIndex(of: "\(second) waiting") ?? 0, "\(told)")
            #expect(ended < told.lastIndex(of: "\(second) done") ?? 0, "\(told)")
            #expect(try daemon.list().map(\.state) == ["done", "done"])
        }
    }

    @Test(
        "a picture that was running at CrashTries crashes fails, and not earlier",
        arguments: [(1, "done"), (2, "failed")])
    func crashTries(crashes: Int, state: String) async throws {
        let files = Self.slow.merging(["etc/pipelined.conf": "[Daemon]\nCrashTries=2\n"]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Self.long, as: "long.tif", inbox: "inbox/slow")
            var crashed = 0
            for _ in 1...crashes {
                // The event says that the job is recorded as running. Also wait until a worker has the picture open.
                _ = try await daemon.events(since: crashed) { $0.kind == "job" && $0.job?.state == "running" }
                _ = try await daemon.worker(holding: "long.tif")
                crashed = try daemon.status().cursor
                await daemon.stop(SIGKILL)
                try await daemon.start()
            }
            try await daemon.waitForAll()
            let job = try #require(try daemon.list().first)
            #expect(job.state == state)
            #expect(job.error?.contains("has crashed 2 times") == (state == "failed" ? true : nil))
        }
    }

    /// Settings with a memory budget that is enough for one WebP of 12 megapixels but not for two. That holds with all
    /// versions of the libraries.
    private static let tight = [
        "etc/recipes.d/slow.recipe": "[Recipe]\nInbox=slow\n[Output]\nChain=save format=webp\n",
        "etc/pipelined.conf": "[Daemon]\nMemoryBudget=192M\n[Queues]\nRender=2\n",
    ]
    private static let half = Picture.tiff(width: 4000, height: 3000)

    @Test("a picture that needs more than MemoryBudget fails; two that fit one by one wait for each other")
    func memory() async throws {
        try await DaemonFixture.with(Self.tight) { daemon in
            try daemon.drop(Picture.tiff(width: 8000, height: 6000), as: "large.tif", inbox: "inbox/slow")
            try await daemon.job("large.tif", becomes: "failed")
            let error = try #require(try daemon.list().first?.error)
            #expect(error.contains("MemoryBudget allows 202 MB"), "\(error)")

            for name in ["one.tif", "two.tif"] { try daemon.drop(Self.half, as: name, inbox: "inbox/slow") }
            let event = try await daemon.event { $0.kind == "job" && $0.job?.state == "waiting" }
            #expect(event.job?.reason?.hasPrefix("memory: it needs about") == true)
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["failed", "done", "done"])
        }
    }

    @Test("a picture that waits for memory can be cancelled at once, and its worker continues with other pictures")
    func cancelHeld() async throws {
        try await DaemonFixture.with(Self.tight) { daemon in
            for name in ["one.tif", "two.tif"] { try daemon.drop(Self.half, as: name, inbox: "inbox/slow") }
            let held = try await daemon.event { $0.kind == "job" && $0.job?.state == "waiting" }
            let id = try #require(held.job?.id)
            #expect(try daemon.call(Call.Cancel(ids: [id])).jobs.map(\.state) == ["cancelled"])
            try daemon.drop(as: "small.png")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state).sorted() == ["cancelled", "done", "done"])
            await daemon.stop()
            #expect(daemon.files(in: "cancelled").count == 1)
        }
    }
}
