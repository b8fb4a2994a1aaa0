import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@testable import pipectl

/// Tests verbs that make one call and print its reply.
struct VerbTests {
    private let daemon: CannedDaemon

    init() throws {
        daemon = try CannedDaemon()
    }

    @Test("pause and resume name the queue and the reason, and print the queues")
    func pausing() async throws {
        daemon.answer(Call.Pause.self, .init(queues: Sample.queues))
        daemon.answer(Call.Resume.self, .init(queues: Sample.queues))
        let paused = try await Pipectl.run("pause", "render", "--reason", "the CPU is needed", at: daemon)
        #expect(paused.output.contains("paused: the CPU is needed"))
        let call = try #require(try daemon.heard(Call.Pause.self).first)
        #expect(call.queue == "render")
        #expect(call.reason == "the CPU is needed")
        let document = try await Pipectl.run("resume", "--json", at: daemon).document()
        #expect((document["queues"] as? [String: Any])?.keys.sorted() == ["publish", "render"])
        #expect(try daemon.heard(Call.Resume.self).first?.queue == nil)
    }

    @Test("--node and --fleet address other machines, and machines that fail are named")
    func nodes() async throws {
        daemon.answer(
            Call.Command.self,
            .init(answers: [
                Sample.answer,
                Control.NodeAnswer(node: "cellar", answered: false, error: "it does not answer", queues: []),
            ]))
        for words in [
            ["pause", "render", "--reason", "the printer", "--node", "attic,cellar"], ["resume", "--fleet"],
            ["concurrency", "2", "--fleet"], ["concurrency", "--fleet"], ["drain", "--fleet"],
            ["cancel-all", "--node=attic"],
        ] {
            let outcome = try await Pipectl.run(words, at: daemon)
            #expect(outcome.status == 1)
            #expect(outcome.lines.last == "cellar: it does not answer")
        }
        let calls = try daemon.heard(Call.Command.self)
        #expect(
            calls.map(\.command) == ["pause", "resume", "concurrency", "concurrency", "drain", "cancel-all"])
        #expect(calls.map(\.nodes) == [["attic", "cellar"], [], [], [], [], ["attic"]])
        #expect(calls[0].queue == "render" && calls[0].reason == "the printer")
        #expect(calls[2].queue == "render" && calls[2].limit == "2" && calls[3].limit == nil)
        let document = try await Pipectl.run("drain", "--fleet", "--json", at: daemon).document()
        #expect((document["answers"] as? [[String: Any]])?.map { $0["node"] as? String } == ["attic", "cellar"])
        let table = try await Pipectl.run("drain", "--fleet", at: daemon).lines
        #expect(table[1] == "attic  render  auto: 2        1  paused: the printer", "\(table)")
        #expect(try await Pipectl.run("drain", "--fleet", "--node", "attic", at: daemon).status == 2)
    }

    @Test("fleet check prints a line for each machine, and fails if one does not pass")
    func checks() async throws {
        daemon.answer(Call.CheckFleet.self, .init(checks: Sample.checks))
        let outcome = try await Pipectl.run("fleet", "check", "attic,cellar", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.lines[1] == "attic      3 ms   49 ms  lacks noir", "\(outcome.lines)")
        #expect(outcome.lines.last == "cellar: it does not answer")
        #expect(try daemon.heard(Call.CheckFleet.self).first?.nodes == ["attic", "cellar"])
        daemon.answer(Call.CheckFleet.self, .init(checks: [Sample.checks[0]]))
        #expect(try await Pipectl.run("fleet", "check", at: daemon).status == 0)
        #expect(try await Pipectl.run("fleet", "check", "a", "b", at: daemon).status == 2)
    }

    @Test("drain prints the queues")
    func drain() async throws {
        daemon.answer(Call.Drain.self, .init(queues: Sample.queues))
        let outcome = try await Pipectl.run("drain", at: daemon)
        #expect(outcome.status == 0 && outcome.output.contains("paused: the CPU is needed"))
    }

    @Test("A limit without a queue applies to the render queue")
    func concurrency() async throws {
        daemon.answer(Call.Concurrency.self, .init(queues: Sample.queues))
        for words in [["concurrency"], ["concurrency", "0"], ["concurrency", "publish", "auto", "--save"]] {
            let outcome = try await Pipectl.run(words, at: daemon)
            #expect(outcome.status == 0)
        }
        let calls = try daemon.heard(Call.Concurrency.self)
        #expect(calls.map(\.queue) == [nil, "render", "publish"])
        #expect(calls.map(\.limit) == [nil, "0", "auto"])
        #expect(calls.map(\.save) == [false, false, true])
        let meaning = "auto means: render 2 (the CPUs that the daemon may use)"
        #expect(try await Pipectl.run("concurrency", "download", "auto", at: daemon).lines.last == meaning)
    }

    @Test("Short names of verbs and options mean the long ones, with the value attached or separate")
    func shortNames() async throws {
        daemon.answer(Call.List.self, .init(jobs: [Sample.job(1)]))
        daemon.answer(Call.Cancel.self, .init(jobs: [Sample.job(1, "cancelled")]))
        let long = try await Pipectl.run("list", "--limit", "5", "--json", at: daemon)
        for words in [["ls", "-n", "5", "-j"], ["ls", "-n5", "-j"], ["-j", "ls", "--limit=5"]] {
            #expect(try await Pipectl.run(words, at: daemon).output == long.output)
        }
        #expect(try daemon.heard(Call.List.self).map(\.limit) == [5, 5, 5, 5])
        #expect(try await Pipectl.run("rm", "1", at: daemon).output == "#1 cancelled  harbour.jpg\n")
        for verb in Verb.all {
            guard let alias = verb.alias else { continue }
            #expect(try await Pipectl.run("help", alias).output == Pipectl.run("help", verb.name).output)
        }
        let wrong = try await Pipectl.run("ls", "-x", at: daemon)
        #expect(wrong.status == 2 && wrong.errors.hasPrefix("pipectl: unknown option '-x' for list"))
        let noValue = try await Pipectl.run("ls", "-n", at: daemon)
        #expect(noValue.status == 2 && noValue.errors.contains("--limit needs a value: --limit N"))
        let value = try await Pipectl.run("ls", "-j5", at: daemon)
        #expect(value.status == 2 && value.errors.contains("--json takes no value"))
    }

    @Test("A wait with --timeout exits with 124 when its time is over, and the jobs go on")
    func timeout() async throws {
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(1)]), continues: true)
        }
        let outcome = try await Pipectl.run("wait", "1", "2", "--timeout", "0.2s", at: daemon)
        #expect(outcome.status == 124)
        #expect(outcome.errors == "pipectl: job #2 goes on; `pipectl wait 2` waits again\n")
        for time in ["soon", "5 m", "-1", "1y", ""] {
            let wrong = try await Pipectl.run("wait", "--timeout=\(time)", at: daemon)
            #expect(wrong.status == 2, "\(time)")
        }
        let alone = try await Pipectl.run("add", "a.jpg", "--timeout", "1s", at: daemon)
        #expect(alone.status == 2 && alone.errors.hasPrefix("pipectl: --timeout needs --wait"))
    }

    @Test("log prints a job's events, one per line, also as JSON")
    func log() async throws {
        let events = [
            Sample.event(1, Sample.job(1, "queued")), Sample.event(2, Sample.job(1, "failed", error: "broken")),
        ]
        daemon.answer(Call.Log.self, .init(events: events))
        let outcome = try await Pipectl.run("log", "1", at: daemon)
        #expect(outcome.lines.count == 2 && outcome.lines[1].hasSuffix("failed  harbour.jpg  broken"))
        let documents = try await Pipectl.run("log", "1", "--json", at: daemon).objects()
        #expect(documents.map { $0["cursor"] as? Int } == [1, 2])
        #expect(try daemon.heard(Call.Log.self).map(\.id) == [1, 1])
    }

    @Test("cancel prints the jobs, and cancel-all their number")
    func cancelling() async throws {
        daemon.answer(Call.Cancel.self, .init(jobs: [Sample.job(1, "cancelled")]))
        daemon.answer(Call.CancelAll.self, .init(cancelled: 3))
        #expect(try await Pipectl.run("cancel", "1", at: daemon).output == "#1 cancelled  harbour.jpg\n")
        #expect(try await Pipectl.run("cancel-all", at: daemon).output == "cancelled 3 jobs\n")
        #expect(try await Pipectl.run("cancel-all", "--json", at: daemon).document()["cancelled"] as? Int == 3)
    }

    @Test("cancel of ended jobs says so, and fails")
    func cancellingInVain() async throws {
        daemon.answer(
            Call.Cancel.self, .init(jobs: [Sample.job(1), Sample.job(2, "cancelled"), Sample.job(3, "failed")]))
        let outcome = try await Pipectl.run("cancel", "1", "2", "3", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.lines.count == 3)
        #expect(
            outcome.errors == "pipectl: job 1 is done already and can't be cancelled; the same goes for 1 more\n")
    }

    @Test("An unknown name is refused with the nearest one")
    func nearest() async throws {
        daemon.on(Call.List.self) { call, _ in
            throw ControlError.noSuchRecipe(call.recipe ?? "", recipes: ["noir", "web"])
        }
        let outcome = try await Pipectl.run("list", "--recipe", "wbe", at: daemon)
        #expect(outcome.status == 2)
        #expect(
            outcome.errors
                == "pipectl: there is no recipe 'wbe'; the recipes are noir, web; did you mean 'web'?\n")
    }

    @Test("ignored lists every ignored file with the reason, from several replies")
    func ignored() async throws {
        let files = (1...3).map { Control.Ignored(path: "/srv/inbox/\($0).txt", reason: "no recipe takes it") }
        daemon.answer(Call.ListIgnored.self, .init(ignored: Array(files[..<2])), .init(ignored: [files[2]]))
        let page = try await Pipectl.run("ignored", "--recipe", "noir", at: daemon)
        #expect(page.lines.count == 4 && page.lines[3] == "/srv/inbox/3.txt  no recipe takes it")
        #expect(
            try await Pipectl.run("ignored", "--json", at: daemon).objects().map { $0["path"] as? String }
                == files.map(\.path))
        #expect(try daemon.heard(Call.ListIgnored.self).map(\.recipe) == ["noir", nil])
    }

    @Test("cancel takes IDs or conditions")
    func choosing() async throws {
        daemon.answer(Call.CancelMatching.self, .init(cancelled: 2))
        let outcome = try await Pipectl.run(
            "cancel", "--batch", "4", "--recipe", "web", "--state", "queued,waiting", at: daemon)
        #expect(outcome.output == "cancelled 2 jobs\n")
        let call = try #require(try daemon.heard(Call.CancelMatching.self).first)
        #expect(call.batch == 4 && call.recipe == "web" && call.states == ["queued", "waiting"])
        for words in [["cancel"], ["cancel", "3", "--batch", "4"], ["cancel", "--state", "done"]] {
            #expect(try await Pipectl.run(words, at: daemon).status == 2)
        }
    }

    @Test("depend takes jobs separated by spaces or commas, with or without #")
    func depending() async throws {
        daemon.answer(Call.Depend.self, .init(job: Sample.job(3, "waiting", reason: "after job 4 and 2 more")))
        let outcome = try await Pipectl.run(
            "depend", "3", "--after", "4", "#5,6", "--remove", "7", "--anyway", at: daemon)
        #expect(outcome.output == "#3 waiting  harbour.jpg  after job 4 and 2 more\n")
        let call = try #require(try daemon.heard(Call.Depend.self).first)
        #expect(call.id == 3 && call.after == [4, 5, 6] && call.remove == [7] && call.anyway)
        for words in [["depend", "3"], ["depend", "--after", "4"], ["depend", "3", "--after", "x"]] {
            #expect(try await Pipectl.run(words, at: daemon).status == 2)
        }
    }

    @Test("priority takes IDs or a batch, and a level")
    func prioritising() async throws {
        daemon.answer(Call.Prioritise.self, .init(changed: 2))
        #expect(
            try await Pipectl.run("priority", "4", "#5", "high", at: daemon).output == "2 jobs with priority high\n")
        #expect(try await Pipectl.run("priority", "--batch", "3", "low", at: daemon).status == 0)
        let calls = try daemon.heard(Call.Prioritise.self)
        #expect(calls.map(\.ids) == [[4, 5], []])
        #expect(calls.map(\.batch) == [nil, 3])
        #expect(calls.map(\.priority) == ["high", "low"])
        for words in [["priority", "high"], ["priority", "4"], ["priority", "4", "--batch", "3", "low"]] {
            #expect(try await Pipectl.run(words, at: daemon).status == 2)
        }
    }

    @Test("retry takes IDs or states")
    func retrying() async throws {
        daemon.answer(Call.Retry.self, .init(retried: [4, 5]))
        #expect(try await Pipectl.run("retry", "4", "5", at: daemon).output == "retrying 2 jobs: #4 #5\n")
        #expect(try await Pipectl.run("retry", "--failed", "--cancelled", at: daemon).status == 0)
        let calls = try daemon.heard(Call.Retry.self)
        #expect(calls.map(\.ids) == [[4, 5], []])
        #expect(calls.map(\.states) == [[], ["failed", "cancelled"]])
        daemon.answer(Call.Wait.self, .init(jobs: [Sample.job(4), Sample.job(5, "failed", error: "truncated")]))
        let waited = try await Pipectl.run("retry", "4", "5", "-w", at: daemon)
        #expect(waited.status == 1 && waited.lines.last == "#5 failed  harbour.jpg  truncated")
        #expect(try daemon.heard(Call.Wait.self).map(\.ids) == [[4, 5]])
        #expect(try await Pipectl.run("retry", "4", "--timeout", "9s", at: daemon).status == 2)
    }

    @Test("explain distinguishes files from chains")
    func explaining() async throws {
        daemon.answer(Call.Explain.self, .init(explanation: Sample.explanation))
        let page = try await Pipectl.run("explain", "/srv/inbox/harbour.jpg", at: daemon)
        for part in [
            "recipe noir", "it is the default recipe", "settling", "1  render     resize, noir, save\n",
            "picture: jpeg 4000 × 3000, 8 bit, 3 bands\n", "decode thumb: jpeg, 1/8 (resize makes 320 × 240)\n",
            "its header is not known: it is cut\n",
        ] {
            #expect(page.output.contains(part))
        }
        for word in ["harbour.jpg", "noir", "resize scale=0.5 | noir", "resize scale=0.5"] {
            #expect(
                try await Pipectl.run("explain", word, "--json", at: daemon).document()["recipe"] as? String == "noir")
        }
        let chained = ["explain", "/a.dng", "--chain", "noir", "--raw", "develop"]
        #expect(try await Pipectl.run(chained, at: daemon).status == 0)
        for (words, reason) in [
            (["explain", "noir", "--chain", "mono"], "--chain needs a file, but 'noir' is not a file"),
            (["explain", "/a.dng", "--raw", "develop"], "--raw goes with --chain; a recipe has Raw="),
        ] {
            let refused = try await Pipectl.run(words, at: daemon)
            #expect(refused.status == 2 && refused.errors == "pipectl: \(reason)\n", "\(refused)")
        }
        let calls = try daemon.heard(Call.Explain.self)
        let here = FileManager.default.currentDirectoryPath
        #expect(calls.map(\.file) == ["/srv/inbox/harbour.jpg", here + "/harbour.jpg", nil, nil, nil, "/a.dng"])
        #expect(calls.map(\.chain) == [nil, nil, "noir", "resize scale=0.5 | noir", "resize scale=0.5", "noir"])
        #expect(calls.map(\.raw) == [nil, nil, nil, nil, nil, "develop"])
    }

    @Test("metrics prints both Prometheus formats, exactly")
    func metrics() async throws {
        daemon.answer(Call.Metrics.self, .init(metrics: Sample.metrics))
        let samples = """
            pipelined_queue_limit{queue="render"} 0.5
            # TYPE pipelined_read_bytes_total counter
            # HELP pipelined_read_bytes_total Bytes.
            pipelined_read_bytes_total 4000000000
            # TYPE pipelined_wait_seconds histogram
            # HELP pipelined_wait_seconds Waits.
            pipelined_wait_seconds_bucket{recipe="a\\"b\\\\c\\nd",le="0.5"} 1
            pipelined_wait_seconds_bucket{recipe="a\\"b\\\\c\\nd",le="1"} 2
            pipelined_wait_seconds_bucket{recipe="a\\"b\\\\c\\nd",le="+Inf"} 3
            pipelined_wait_seconds_sum{recipe="a\\"b\\\\c\\nd"} 3.25
            pipelined_wait_seconds_count{recipe="a\\"b\\\\c\\nd"} 3
            """
        let plain = try await Pipectl.run("metrics", at: daemon)
        #expect(
            plain.output == """
                # TYPE pipelined_queue_limit gauge
                # HELP pipelined_queue_limit How many "run" at once.
                \(samples)

                """)
        let open = try await Pipectl.run("metrics", "--openmetrics", at: daemon)
        #expect(
            open.lines.starts(with: [
                "# TYPE pipelined_queue_limit gauge", #"# HELP pipelined_queue_limit How many \"run\" at once."#,
            ]))
        #expect(open.lines.contains("# TYPE pipelined_read_bytes counter") && open.lines.last == "# EOF")
        #expect(open.lines.contains("# UNIT pipelined_wait_seconds seconds"))
        let objects = try await Pipectl.run("metrics", "--json", at: daemon).objects()
        #expect(objects.map { $0["name"] as? String }.last == "pipelined_wait_seconds")
    }

    @Test("recipes and settings show their sources")
    func configuration() async throws {
        daemon.answer(Call.Recipes.self, .init(recipes: [Sample.recipe], folder: "/etc/pipelined/recipes.d"))
        daemon.answer(Call.Settings.self, .init(settings: [Sample.setting]))
        let recipes = try await Pipectl.run("recipes", at: daemon)
        #expect(recipes.lines.first == "noir  Half size, black and white")
        #expect(recipes.output.contains("built in"))
        #expect(
            try await Pipectl.run("recipes", "--json", at: daemon).objects().first?["inbox"] as? String == "/srv/inbox")
        let settings = try await Pipectl.run("settings", at: daemon)
        #expect(settings.output.contains("[Queues] Render  3      pipectl  pictures at once"))
        #expect(try await Pipectl.run("settings", "--json", at: daemon).objects().first?["value"] as? String == "3")
    }

    @Test("plugins lists stages and skipped files, and prints the manual of one stage")
    func plugins() async throws {
        daemon.answer(Call.Plugins.self, .init(stages: [Sample.stage], skipped: [Sample.skipped]))
        let list = try await Pipectl.run("plugins", at: daemon)
        #expect(list.output.contains("noir   1.0      older  black and white  contrast    /plugins/noir.so"))
        #expect(list.output.contains("skipped /plugins/old.so: it has ABI version 0"))
        #expect(try await Pipectl.run("plugins", "--json", at: daemon).objects().count == 2)
        let manual = try await Pipectl.run("plugins", "noir", at: daemon)
        #expect(manual.output.contains("older: its file is for another version"))
        #expect(manual.output.contains("contrast   number 0 to 1  0.5      how steep the curve is"))
        #expect(try await Pipectl.run("plugins", "show", "noir", at: daemon).output == manual.output)
        let missing = try await Pipectl.run("plugins", "nior", at: daemon)
        #expect(missing.status == 2)
        #expect(missing.errors.hasPrefix("pipectl: there is no stage 'nior'; did you mean 'noir'?"))
    }

    @Test("reload reports the problems, and that nothing has changed")
    func reloading() async throws {
        daemon.answer(Call.Reload.self, .init(problems: []))
        #expect(try await Pipectl.run("reload", at: daemon).status == 0)
        daemon.answer(Call.Reload.self, .init(problems: [Sample.problem]))
        let refused = try await Pipectl.run("reload", at: daemon)
        #expect(refused.status == 1)
        #expect(refused.errors == "pipectl: nothing was changed:\nnoir.recipe:7: unknown stage 'niro'\n")
        let document = try await Pipectl.run("reload", "--json", at: daemon)
        #expect(document.status == 1)
        #expect(try (document.document()["problems"] as? [Any])?.count == 1)
        daemon.answer(Call.Reload.self, .init(problems: [], skipped: [Sample.skipped]))
        let partial = try await Pipectl.run("reload", at: daemon)
        #expect(partial.status == 1)
        #expect(partial.output == "configuration and plugins have been read again\n")
        #expect(partial.errors == "pipectl: 1 plugin was left out:\n/plugins/old.so: it has ABI version 0\n")
        daemon.answer(Call.Reload.self, .init(skipped: [Sample.skipped], hooks: [Sample.problem]))
        daemon.answer(Call.Reload.self, .init(problems: []))
        let quiet = try await Pipectl.run("reload", "--quiet", at: daemon)
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty, "\(quiet)")
        daemon.answer(Call.Reload.self, .init(skipped: [Sample.skipped], hooks: [Sample.problem]))
        let hooks = try await Pipectl.run("reload", at: daemon)
        let words = "version 0\n1 hook can't be run:\nnoir.recipe:7: unknown stage 'niro'\n"
        #expect(hooks.status == 1 && hooks.errors.hasSuffix(words), "\(hooks)")
        let skipped = try await Pipectl.run("reload", "--json", at: daemon)
        #expect(skipped.status == 1)
        #expect(try (skipped.document()["skipped"] as? [[String: Any]])?.first?["file"] as? String == "/plugins/old.so")
    }

    @Test("version works without a daemon, and shows a running daemon's version")
    func versions() async throws {
        #expect(try await Pipectl.run("version", "--json", "--socket", "/nowhere").document()["pipelined"] is NSNull)
        daemon.answer(Call.Status.self, .init(status: Sample.status()))
        let both = try await Pipectl.run("--version", at: daemon)
        #expect(both.lines == ["pipectl \(Release.version)", "pipelined 0.1.0"])
    }
}
