import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Starting, stopping and recovering")
struct LifeTests {
    private static let slow = ["etc/recipes.d/slow.recipe": "[Recipe]\nInbox=slow\n[Output]\nChain=save format=avif\n"]

    @Test(
        "a stop finishes running jobs, returns the rest to the queue and exits 0; a restart continues in order"
    )
    func drain() async throws {
        try await DaemonFixture.with(
            Self.slow.merging([
                "etc/pipelined.conf": "[Daemon]\nDrainTimeout=10min\n[Queues]\nRender=1\nPublish=1\n"
            ]) { $1 }
        ) {
            daemon in
            try daemon.drop(Picture.tiff(width: 2400, height: 1800), as: "first.tif", inbox: "inbox/slow")
            try await daemon.job("first.tif", becomes: "running")
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            for number in 1...20 { try daemon.drop(as: String(format: "%02d.png", number)) }
            try await daemon.job("20.png", becomes: "queued")
            #expect(await daemon.stop() == 0)
            #expect(daemon.files(in: "outbox/slow") == ["first.avif"])
            #expect(daemon.files(in: "inbox").count == 20)
            #expect(daemon.files(in: "outbox/noir") == [])

            try await daemon.start()
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == Array(repeating: "done", count: 21))
            let finished = jobs.dropFirst().sorted { ($0.finished ?? "", $0.id) < ($1.finished ?? "", $1.id) }
            #expect(finished.map(\.id) == finished.map(\.id).sorted())
        }
    }

    @Test("a drain says how many rendered pictures it can't publish, and why; once it can, it publishes them")
    func drainBehindPause() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "publish", reason: "the disk is moved"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "waiting")
            let paused = try await daemon.pipectl("drain")
            #expect(paused.status == 1)
            #expect(
                paused.errors.contains("1 rendered picture is not published")
                    && paused.errors.contains("paused: the disk is moved")
                    && paused.errors.contains("pipectl resume publish"), "\(paused.errors)")
            _ = try daemon.call(Call.Concurrency(queue: "publish", limit: "0"))
            _ = try daemon.call(Call.Resume())
            try await daemon.job("one.png", becomes: "running")
            let limited = try await daemon.pipectl("drain")
            #expect(limited.status == 1 && limited.errors.contains("its limit is 0"), "\(limited.errors)")
            _ = try daemon.call(Call.Concurrency(queue: "publish", limit: "auto"))
            #expect(try await daemon.pipectl("drain").status == 0)
            #expect(try daemon.list().map(\.state) == ["done"])
        }
    }

    @Test("a job that exceeds DrainTimeout goes back to the queue")
    func drainTimeout() async throws {
        let files = Self.slow.merging(["etc/pipelined.conf": "[Daemon]\nDrainTimeout=0\n"]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Picture.tiff(width: 4000, height: 3000), as: "long.tif", inbox: "inbox/slow")
            try await daemon.job("long.tif", becomes: "running")
            #expect(await daemon.stop() == 0)
            #expect(daemon.files(in: "outbox") == [])
            _ = try await daemon.start()
            #expect(try daemon.list().map(\.input) == ["long.tif"])
            _ = try daemon.call(Call.CancelAll())
        }
    }

    @Test("a daemon that is killed while jobs run loses nothing, and publishes nothing twice or in part")
    func killed() async throws {
        try await DaemonFixture.with { daemon in
            let names = (1...60).map { String(format: "%02d.png", $0) }
            for name in names { try daemon.drop(as: name) }
            for round in 1...3 {
                try await daemon.event { $0.kind == "picture" && ($0.job?.id ?? 0) >= round * 10 }
                await daemon.stop(SIGKILL)
                try await daemon.start()
            }
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "archive/noir") == names)
            #expect(daemon.files(in: "outbox/noir") == names.map { $0.replacingOccurrences(of: ".png", with: ".jpg") })
            #expect(daemon.files(in: "inbox") == [])
        }
    }

    @Test("a job that exceeds JobTimeout fails with that reason, and the next job gets a new worker")
    func jobTimeout() async throws {
        let files = Self.slow.merging(["etc/pipelined.conf": "[Daemon]\nJobTimeout=1s\n"]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Picture.tiff(width: 12000, height: 10000), as: "huge.tif", inbox: "inbox/slow")
            try await daemon.job("huge.tif", becomes: "failed")
            #expect(try daemon.list().first?.error?.contains("JobTimeout") == true)
            try daemon.drop(as: "next.png")
            try await daemon.job("next.png", becomes: "done")
        }
    }

    @Test("the worker that tried the plugins takes the first job, and no more workers start than the limit allows")
    func firstWorker() async throws {
        let files = ["etc/pipelined.conf": "[Queues]\nRender=1\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            let record = daemon.path("starts")
            try await daemon.start(
                under: ["/usr/bin/strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", record, "-e", "trace=execve"])
            try daemon.drop(as: "sunset.png")
            try await daemon.job("sunset.png", becomes: "done")
            await daemon.stop()
            let starts = try String(contentsOfFile: record, encoding: .utf8).split(separator: "\n")
            #expect(starts.count { $0.contains("execve(") && $0.contains("pipelined-render") } == 1, "\(starts)")
        }
    }

    @Test("an idle daemon keeps one worker ready; settling files start others, up to the limit")
    func expected() async throws {
        let files = [
            "etc/pipelined.conf": "[Queues]\nRender=3\n",
            "etc/recipes.d/late.recipe": "[Recipe]\nInbox=late\n[Inbox]\nSettle=1h\n[Output]\nChain=noir\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            #expect(try daemon.workers().count == 1)
            for (files, workers) in [(1...1, 1), (2...2, 2), (3...9, 3)] {
                // Files that are written in place have to settle.
                for number in files {
                    try Picture.small.write(to: URL(fileURLWithPath: daemon.path("inbox/late/\(number).png")))
                }
                while try daemon.status().jobs.waiting < files.upperBound { await Look.again() }
                while try daemon.workers().count < workers { await Look.again() }
                #expect(try daemon.workers().count == workers)
            }
        }
    }

    @Test("a worker is replaced after WorkerJobs pictures")
    func workerJobs() async throws {
        let files = ["etc/pipelined.conf": "[Daemon]\nWorkerJobs=2\n[Queues]\nRender=1\n"]
        try await DaemonFixture.with(files) { daemon in
            var seen: Set<Int32> = []
            for number in 1...6 {
                try daemon.drop(as: "\(number).png")
                try await daemon.job("\(number).png", becomes: "running")
                seen.formUnion(try daemon.workers())
                try await daemon.job("\(number).png", becomes: "done")
            }
            #expect(seen.count >= 3)
        }
    }

    @Test(
        "an intent without files is rendered again; an intent that can't be finished fails its job, not the start")
    func intents() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            for name in ["lost.png", "stuck.png"] { try daemon.drop(as: name) }
            let lost = try await daemon.job("lost.png", becomes: "queued")
            let stuck = try await daemon.job("stuck.png", becomes: "queued")
            await daemon.stop()
            // Recreate the state after a crash: the intents were recorded, but nothing was renamed yet. A folder
            // prevents the second rename.
            try daemon.write("half", to: "elsewhere/.staging/\(stuck)")
            func intent(_ staging: String, _ target: String) -> String {
                #"{"steps":[{"conflict":"replace","staging":"\#(staging)","target":"\#(target)"}]}"#
            }
            try daemon.write("", to: "elsewhere/folder/file")
            for (id, text) in [
                (lost, intent(daemon.path("nothing"), daemon.path("nowhere"))),
                (stuck, intent(daemon.path("elsewhere/.staging/\(stuck)"), daemon.path("elsewhere/folder"))),
            ] {
                try await daemon.ledger("UPDATE jobs SET state = 'running', intent = '\(text)' WHERE id = \(id)")
            }
            try await daemon.start()
            _ = try daemon.call(Call.Resume())
            try await daemon.wait([lost, stuck])
            #expect(
                try daemon.list().map { [$0.input, $0.state] } == [["lost.png", "done"], ["stuck.png", "failed"]])
            await daemon.stop()
            #expect(daemon.files(in: "archive") == ["noir/lost.png"])
            #expect(daemon.files(in: "failed") == ["noir/stuck.png", "noir/stuck.png.error.txt"])
        }
    }

    @Test("workers end with their daemon, however it ends")
    func noOrphans() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.waitForAll()
            let workers = try daemon.workers()
            #expect(!workers.isEmpty)
            let ended = workers.map(ProcessEnd.init)
            await daemon.stop(SIGKILL)
            for process in ended { await process.wait() }
        }
    }

    @Test(
        "a daemon whose limits are too low to start says which limit and how much it needs; with that it works",
        arguments: [
            ("-n", [64, 63, 23], "needs 64 open files", "LimitNOFILE="),
            ("-v", [2048 << 10, 2047 << 10, 400_000], "needs 2048 MB of address space", "LimitAS="),
            ("-d", [512 << 10, 511 << 10, 40_000], "needs 512 MB of data", "LimitDATA="),
        ])
    func limits(option: String, values: [Int], need: String, setting: String) async throws {
        func limited(_ most: Int) -> [String] { ["/bin/sh", "-c", "ulimit \(option) \(most); exec \"$0\" \"$@\""] }
        try await DaemonFixture.with(started: false) { daemon in
            for most in values.dropFirst() {
                let words = limited(most) + [Programs.path("pipelined"), "--root", daemon.root.path]
                let outcome = try await Programs.run(path: words[0], Array(words.dropFirst()))
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains(need) && outcome.errors.contains(setting), "\(outcome)")
            }
            try await daemon.start(under: limited(values[0]))
            try daemon.drop(as: "one.png")
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/noir") == ["one.jpg"])
        }
    }

    @Test("a second daemon on the same root says so and exits, and the first is left alone")
    func second() async throws {
        try await DaemonFixture.with { daemon in
            let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path])
            #expect(outcome.status == 75)
            #expect(outcome.errors.contains("another pipelined runs on"))
            #expect(try daemon.status().stopping == false)
        }
    }

    @Test("ended jobs beyond HistoryJobs are forgotten, but not unfinished jobs, nor files kept in place")
    func history() async throws {
        let files = [
            "etc/pipelined.conf": "[Daemon]\nHistoryJobs=8\n",
            "etc/recipes.d/keep.recipe": "[Recipe]\nInbox=keep\nOriginal=keep\n[Output]\nChain=resize scale=0.5\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "kept.png", inbox: "inbox/keep")
            try await daemon.job("kept.png", becomes: "done")
            for number in 1...30 { try daemon.drop(as: "\(number).png") }
            try await daemon.waitForAll()
            await daemon.stop()
            try await daemon.start()
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "last.png")
            try await daemon.job("last.png", becomes: "queued")
            let jobs = try daemon.list()
            #expect(jobs.first?.input == "kept.png" && jobs.last?.input == "last.png")
            #expect(jobs.filter { $0.state == "done" }.count == 9)
            #expect(try daemon.status().jobs.done == 9)
            #expect(daemon.files(in: "outbox/noir").count == 30)
        }
    }

    @Test("ended jobs older than History are forgotten even when no job ends, and their work orders with them")
    func historyInBackground() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Daemon]\nHistory=1s\n"]) { daemon in
            try daemon.drop(as: "old.png")
            try await daemon.job("old.png", becomes: "done")
            let client = try daemon.client()
            while try !client.call(Call.List()).jobs.isEmpty { await Look.again() }
            while try client.call(Call.Status()).status.jobs.done > 0 { await Look.again() }
            while try await daemon.ledger("SELECT COUNT(*) FROM orders") != ["0"] {}
            try daemon.drop(as: "new.png")
            try await daemon.job("new.png", becomes: "done")
            #expect(daemon.files(in: "outbox") == ["noir/new.jpg", "noir/old.jpg"])
        }
    }

    @Test("list selects by end time, state and recipe")
    func listed() async throws {
        let files = ["etc/recipes.d/other.recipe": "[Recipe]\nInbox=other\n[Output]\nChain=save\n"]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Data("no picture".utf8), as: "bad.png", inbox: "inbox/other")
            try daemon.drop(Data("no picture".utf8), as: "worse.png")
            try daemon.drop(as: "good.png")
            try await daemon.waitForAll()
            func listed(_ words: String...) async throws -> [String] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "list", "--json"] + words)
                #expect(outcome.status == 0, "\(outcome.errors)")
                return try outcome.lines.map {
                    try JSONDecoder().decode(Control.Job.self, from: Data($0.utf8)).input
                }.sorted()
            }
            #expect(try await listed("--failed", "--since", "1h", "--recipe", "other") == ["bad.png"])
            #expect(try await listed("--failed", "--since", "1h") == ["bad.png", "worse.png"])
            #expect(
                try await listed("--done", "--failed", "--since=2026-01-01T00:00:00Z") == [
                    "bad.png", "good.png", "worse.png",
                ])
            #expect(try await listed("--until", "1h") == [])
            #expect(try await listed("--cancelled", "--waiting") == [])
            let failure = try await daemon.pipectl("list", "--since", "yesterday")
            #expect(failure.status == 2 && failure.errors.contains("'yesterday' is not a time; write how long ago"))
        }
    }

    @Test("a pause survives a restart, and the status says so")
    func pauseOutlives() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: "the printer is away"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "queued")
            await daemon.stop()
            try await daemon.start()
            try await daemon.says("queue render is paused (the printer is away), as it was before")
            let status = try daemon.status()
            #expect(status.queues["render"]?.paused == true)
            #expect(status.queues["render"]?.reason == "the printer is away")
            #expect(status.jobs.waiting == 1)
            #expect(try daemon.list().map(\.reason) == ["paused: the printer is away"])
            _ = try daemon.call(Call.Resume())
            try await daemon.job("one.png", becomes: "done")
        }
    }

    @Test("a limit set by pipectl lasts until the restart, and survives it with --save")
    func savedLimit() async throws {
        try await DaemonFixture.with { daemon in
            #expect(try await daemon.pipectl("concurrency", "render", "3").status == 0)
            #expect(try await daemon.pipectl("concurrency", "publish", "7", "--save").status == 0)
            await daemon.stop()
            try await daemon.start()
            let queues = try daemon.status().queues
            #expect(queues["render"]?.configured == nil)
            #expect(queues["publish"]?.configured == 7)
            #expect(try await daemon.pipectl("concurrency", "banana").status == 2)
            #expect(try await daemon.pipectl("concurrency", "render", "99999").errors.contains("1024"))
        }
    }

    @Test("auto follows the number of processors that the daemon may use, while it runs")
    func processors() async throws {
        try await DaemonFixture.with { daemon in
            func may(_ processors: String) async throws {
                let outcome = try await Programs.run(
                    path: "/usr/bin/env",
                    ["taskset", "--all-tasks", "--cpu-list", "--pid", processors, "\(daemon.process)"])
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            let status = try String(contentsOfFile: "/proc/\(daemon.process)/status", encoding: .utf8)
            let all = try #require(status.firstMatch(of: /Cpus_allowed_list:\s*([0-9,-]+)/)).output.1
            let first = try #require(all.firstMatch(of: /[0-9]+/)).output
            let before = try #require(try daemon.status().queues["render"]?.effective)
            try await may(String(first))
            #expect(try await daemon.pipectl("concurrency").output.contains("auto: 1"))
            try await may(String(all))
            #expect(try daemon.status().queues["render"]?.effective == before)
            // While a job is running, the daemon notices a change of its processors even if nobody requests the status.
            _ = try daemon.call(Call.Concurrency(queue: "publish", limit: "0"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "running")
            try await may(String(first))
            if before > 1 { try await daemon.event { $0.queue == "render" && $0.text == "limit auto: 1" } }
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "3"))
            try await may(String(all))
            #expect(try daemon.status().queues["render"]?.effective == 3)
        }
    }

    @Test("--help and --version print their texts, and an unknown word is refused")
    func words() async throws {
        let help = try await Programs.run("pipelined", ["--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("--root DIR"))
        #expect(try await Programs.run("pipelined", ["--version"]).output.hasPrefix("pipelined "))
        #expect(try await Programs.run("pipelined", ["--rot", "x"]).status == 64)
    }
}
