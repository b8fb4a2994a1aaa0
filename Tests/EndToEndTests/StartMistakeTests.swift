import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Starts with mistakes made since the last valid configuration")
struct StartMistakeTests {
    private static func recipe(_ inbox: String, _ chain: String = "save format=png") -> String {
        "[Recipe]\nInbox=\(inbox)\n[Output]\nChain=\(chain)\n"
    }

    private func check(_ daemon: DaemonFixture) async throws -> Outcome {
        try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
    }

    /// Waits until the status counts a picture in this inbox as waiting; returns the reason for the wait.
    private func waits(in inbox: String, _ daemon: DaemonFixture) async throws -> String {
        while true {
            let status = try daemon.status()
            if let found = status.inboxes.first(where: { $0.path == daemon.path(inbox) }), found.settling == 1,
                let problem = found.problem
            {
                #expect(status.waiting.contains { $0.reason == problem }, "\(status.waiting)")
                return problem
            }
            await Look.again()
        }
    }

    @Test("a build that is started without --root says what to do, and makes no folder of the system")
    func withoutRoot() async throws {
        let folders = ["/etc/pipelined", "/var/lib/pipelined", "/run/pipelined"].flatMap { [$0, "\($0)@tried"] }
        func existing() -> [Bool] { folders.map(FileManager.default.fileExists) }
        let before = existing()
        for words in [[], ["--check"], ["--instance", "tried"]] {
            let outcome = try await Programs.run("pipelined", words)
            #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
            #expect(
                outcome.errors.contains("pipelined --root DIR` keeps everything in DIR, and `./run daemon` in ./var"))
        }
        #expect(existing() == before)
    }

    @Test("a task of ./run that does not exist is answered with the nearest one")
    func nearestTask() async throws {
        let run = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../run").standardized.path
        let outcome = try await Programs.run(path: run, ["demoo"])
        #expect(outcome.status == 2 && outcome.errors == "run: there is no task 'demoo'; did you mean ./run demo?\n")
        let unknown = try await Programs.run(path: run, ["xyz"])
        #expect(unknown.status == 2 && unknown.errors.contains("Usage: ./run TASK"))
    }

    @Test("after a kill, a recipe with a mistake holds only its own pictures, until a reload of the corrected recipe")
    func recipe() async throws {
        let files = ["etc/recipes.d/web.recipe": Self.recipe("web"), "etc/recipes.d/shop.recipe": Self.recipe("shop")]
        try await DaemonFixture.with(files) { daemon in
            try daemon.write(Self.recipe("web", "niro"), to: "etc/recipes.d/web.recipe")
            #expect(try daemon.call(Call.Reload()).problems.count == 1)
            await daemon.stop(SIGKILL)
            try await daemon.start()
            try daemon.drop(as: "a.png", inbox: "inbox/web")
            for inbox in ["inbox/shop", "inbox"] {
                try daemon.drop(as: "b.png", inbox: inbox)
            }
            let file = daemon.path("etc/recipes.d/web.recipe")
            let mistake = "\(file):4: unknown stage 'niro' at column 7; did you mean 'noir'?"
            let reason = "the recipe 'web' can't be used: \(mistake); mend it, then `pipectl reload`"
            #expect(try await waits(in: "inbox/web", daemon) == reason)
            try await daemon.job("b.png", becomes: "done")
            while try daemon.status().jobs.done < 2 { await Look.again() }
            #expect(daemon.exists("inbox/web/a.png"))
            #expect(try daemon.status().problems == ["\(reason); its pictures wait"])
            #expect(try daemon.call(Call.Recipes()).recipes.first { $0.name == "web" }?.problem == reason)
            try await daemon.says(reason)

            let verdict = try await daemon.pipectl("status", "--check")
            let warning = "WARNING: the recipe 'web' can't be used"
            #expect(verdict.status == 1 && verdict.output.contains(warning), "\(verdict)")
            #expect(verdict.output.components(separatedBy: mistake).count == 2, "it is said once: \(verdict.output)")
            #expect(try await daemon.pipectl("reload", "--check").errors.contains(mistake))
            let check = try await check(daemon)
            #expect(check.status == 78 && check.errors.contains(mistake), "\(check)")
            let added = try await daemon.pipectl("add", "--recipe", "web", daemon.path("inbox/web/a.png"))
            #expect(added.status == 1 && added.errors.contains(reason), "\(added)")
            #expect(try await daemon.pipectl("list", "--recipe", "web").status == 0)
            let explained = try daemon.call(Call.Explain(file: daemon.path("inbox/web/a.png"))).explanation
            #expect(explained.why == "its inbox waits: \(reason)" && explained.operations.isEmpty, "\(explained)")

            try daemon.write(Self.recipe("web"), to: "etc/recipes.d/web.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(daemon.exists("outbox/web/a.png"))
            #expect(try daemon.status().problems == [])
        }
    }

    @Test(
        "a missing or untrusted plugin holds its recipe and the recipe's old jobs until it is fixed",
        arguments: ["missing", "writable"])
    func plugin(how: String) async throws {
        try await DaemonFixture.with(["etc/recipes.d/copy.recipe": Self.recipe("copy", "copy")], started: false) {
            daemon in
            let plugin = daemon.path("plugins/copy.so")
            try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try Plugin(name: "copy", body: "return vips_copy(in, out, NULL);").compile(to: plugin)
            try await daemon.start()
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            try daemon.drop(as: "before.png", inbox: "inbox/copy")
            while try daemon.status().jobs.waiting + daemon.status().jobs.queued < 1 { await Look.again() }
            #expect(!daemon.exists("inbox/copy/before.png"))
            await daemon.stop(SIGKILL)
            if how == "missing" { try FileManager.default.moveItem(atPath: plugin, toPath: daemon.path("away.so")) }
            if how == "writable" { try #require(chmod(plugin, 0o666) == 0) }

            try await daemon.start()
            _ = try daemon.call(Call.Resume(queue: "render"))
            try daemon.drop(as: "after.png", inbox: "inbox/copy")
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            #expect(try await waits(in: "inbox/copy", daemon).contains("unknown stage 'copy'"))
            let event = try await daemon.event { $0.job?.input == "before.png" && $0.job?.state == "waiting" }
            let leftOut = "plugin \(plugin) is left out: everybody can write \(plugin); `chmod o-w` it"
            let reason = "the filter 'copy' is not loaded" + (how == "writable" ? "; \(leftOut)" : "")
            #expect(event.job?.reason == reason)
            let problems = try daemon.status().problems
            #expect(problems.contains("\(reason); its work goes on when `pipectl reload` finds it"), "\(problems)")
            #expect(problems.contains(leftOut) == (how == "writable"), "\(problems)")
            #expect(try await check(daemon).status == 78)

            if how == "missing" { try FileManager.default.moveItem(atPath: daemon.path("away.so"), toPath: plugin) }
            if how == "writable" { try #require(chmod(plugin, 0o755) == 0) }
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done", "done"])
        }
    }

    @Test("a recipe with an untrusted file keeps its inbox, and no other recipe takes its pictures")
    func untrusted() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.recipe("for/web")]) { daemon in
            await daemon.stop(SIGKILL)
            try #require(chmod(daemon.path("etc/recipes.d/web.recipe"), 0o666) == 0)
            try await daemon.start()
            try daemon.drop(as: "a.png", inbox: "inbox/for/web")
            try daemon.drop(as: "b.png", inbox: "inbox/for")
            try await daemon.job("for/b.png", becomes: "done")
            #expect(try await waits(in: "inbox/for/web", daemon).contains("everybody can write"))
            #expect(!daemon.exists("inbox/web"))
            try #require(chmod(daemon.path("etc/recipes.d/web.recipe"), 0o644) == 0)
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(daemon.exists("outbox/web/a.png"))
        }
    }

    @Test("without a valid default recipe inbox/ waits, and no other recipe takes its place")
    func defaultRecipe() async throws {
        let files = [
            "etc/recipes.d/web.recipe": Self.recipe("."), "etc/pipelined.conf": "[Daemon]\nDefaultRecipe=web\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            for text in [Self.recipe(".", "niro"), nil] {
                await daemon.stop(SIGKILL)
                try FileManager.default.removeItem(atPath: daemon.path("etc/recipes.d/web.recipe"))
                if let text { try daemon.write(text, to: "etc/recipes.d/web.recipe") }
                try await daemon.start()
                if text != nil { try daemon.drop(as: "a.png") }
                let reason = text == nil ? "DefaultRecipe=web names no recipe" : "unknown stage 'niro'"
                #expect(try await waits(in: "inbox", daemon).contains(reason))
            }
            try daemon.write(Self.recipe("."), to: "etc/recipes.d/web.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(daemon.exists("outbox/web/a.png"))
        }
    }

    @Test("invalid settings give way to the last valid ones, with a message; a first start with them is refused")
    func settings() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Queues]\nPublish=many\n"], started: false) { daemon in
            try daemon.launch()
            #expect(await daemon.stop(0) == 78)
            try daemon.write("[Queues]\nPublish=3\n", to: "etc/pipelined.conf")
            try await daemon.start()
            _ = try await daemon.pipectl("concurrency", "download", "5", "--save")
            await daemon.stop(SIGKILL)

            try daemon.write("[Queues]\nPublish=4\nRender=many\n", to: "etc/pipelined.conf")
            try await daemon.start()
            let problem = try #require(try daemon.status().problems.first)
            let file = daemon.path("etc/pipelined.conf")
            #expect(
                problem.hasPrefix("the settings in force are the last that were right: \(file):3: Render=many "),
                "\(problem)")
            try await daemon.says(problem)
            #expect(try daemon.status().queues["publish"]?.effective == 3)
            #expect(try daemon.status().queues["download"]?.effective == 5)
            #expect(try await check(daemon).status == 78)
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            await daemon.stop(SIGKILL)

            // The settings stay valid although this recipe has a mistake and is held.
            try daemon.write(Self.recipe("web", "niro"), to: "etc/recipes.d/web.recipe")
            for text in ["[Queues]\nPublish=4\n", "[Queues]\nPublish=many\n"] {
                try daemon.write(text, to: "etc/pipelined.conf")
                try await daemon.start()
                #expect(try daemon.status().queues["publish"]?.effective == 4)
                #expect(try daemon.status().problems.count == (text.contains("many") ? 2 : 1))
                await daemon.stop(SIGKILL)
            }
        }
    }
}
