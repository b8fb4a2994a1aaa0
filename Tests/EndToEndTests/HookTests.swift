import Foundation
import Glibc
import PipelineControl
import Synchronization
import SystemCalls
import TestTools
import Testing

@Suite("Hooks")
struct HookTests {
    /// Runs `body` with a daemon that uses this script as a hook. In the script, `$ROOT` is the daemon's root.
    private func with(
        _ script: String, on occasions: String = "", chain: String = "resize scale=0.5", settings: String = "",
        _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let hook = daemon.path("hook")
            try daemon.write("#!/bin/bash\nROOT=\(daemon.root.path)\n\(script)\n", to: "hook")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            try daemon.write(settings, to: "etc/pipelined.conf")
            try daemon.write(
                "[Recipe]\nHook=\(hook)\n\(occasions)[Output]\nChain=\(chain)\n",
                to: "etc/recipes.d/noir.recipe")
            try await daemon.start()
            try await body(daemon)
        }
    }

    /// Waits until the hook has received `count` events; returns all events that it has received.
    private func given(_ daemon: DaemonFixture, _ count: Int) async throws -> [[String: Any]] {
        while true {
            let lines = ((try? daemon.text("given")) ?? "").split(separator: "\n")
            if lines.count >= count {
                return try lines.map {
                    try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
                }
            }
            guard daemon.isRunning else { throw Missing("the daemon is gone") }
            await Look.again()
        }
    }

    @Test("each done picture and batch runs the hook, in order, with the event on standard input")
    func order() async throws {
        try await with("cat >> $ROOT/given") { daemon in
            for number in 1...3 { try daemon.write(Picture.small, to: "mine/\(number).png") }
            _ = try await Programs.run(
                "pipectl",
                ["--root", daemon.root.path, "add"] + (1...3).map { daemon.path("mine/\($0).png") } + ["--wait"])
            let events = try await given(daemon, 4)
            #expect(events.map { $0["kind"] as? String } == ["picture", "picture", "picture", "batch"])
            let jobs = events.compactMap { $0["job"] as? [String: Any] }
            #expect(jobs.allSatisfy { $0["state"] as? String == "done" })
            let announced = try daemon.call(Call.Watch(cursor: 0)).events.filter { $0.kind == "picture" }
            #expect(jobs.map { $0["outputs"] as? [String] } == announced.map { $0.job?.outputs })
            #expect((events.last?["batch"] as? [String: Any])?["done"] as? Int == 3)
        }
    }

    @Test("HookOn=arrived runs the hook when a batch's pictures have reached a barrier; its end lists the results")
    func arrived() async throws {
        let script = """
            echo $PIPELINED_OCCASION $PIPELINED_BATCH $PIPELINED_RECIPE $PIPELINED_PICTURES >> $ROOT/occasions
            cat >> $ROOT/given
            """
        let chain = "tee small | barrier | resize scale=0.5"
        try await with(script, on: "HookOn=arrived batch\n", chain: chain) { daemon in
            for number in 1...3 { try daemon.write(Picture.small, to: "mine/\(number).png") }
            try daemon.write("no picture", to: "mine/4.png")
            let added = try await daemon.pipectl("add", "--recipe", "noir", daemon.path("mine"))
            #expect(added.status == 0, "\(added)")
            let events = try await given(daemon, 2)
            let batches = events.compactMap { $0["batch"] as? [String: Any] }
            #expect(events.map { $0["text"] as? String } == ["arrived", "ended"])
            #expect(batches.map { $0["name"] as? String } == ["mine", "mine"])
            #expect(events[0]["outputs"] == nil || events[0]["outputs"] is NSNull)
            let results = try #require(events[1]["outputs"] as? [String])
            let wanted = (1...3).flatMap { ["\($0).small.jpg", "\($0).jpg"] }
            #expect(results == wanted.map { daemon.path("outbox/noir/mine/\($0)") })
            #expect(results.allSatisfy(FileManager.default.fileExists(atPath:)))
            let batch = try #require(batches[0]["id"] as? Int)
            #expect(try daemon.text("occasions") == "arrived \(batch) noir 4\nbatch \(batch) noir 4\n")
            // The events that other clients get do not list the results.
            let seen = try daemon.call(Call.Watch(cursor: 0)).events.filter { $0.kind == "batch" }
            #expect(seen.count == 2 && seen.allSatisfy { $0.outputs == nil })
        }
    }

    @Test("a hook's long error text is cut in the status, and the log has it")
    func longError() async throws {
        try await with("for i in {1..9}; do printf 'no printer %0100d ' $i; done; exit 3") { daemon in
            try daemon.drop(as: "a.png")
            try await daemon.says("ended with 3: no printer 0")
            while try daemon.status().problems.isEmpty { await Look.again() }
            let problem = try daemon.status().problems[0]
            #expect(problem.hasPrefix("the hook of 'noir' ended with 3: no printer 000") && problem.count < 250)
            #expect(problem.hasSuffix("… (the log has more) (1 failed in all)"), "\(problem)")
            #expect(daemon.log.contains("no printer \(String(repeating: "0", count: 99))8"))
        }
    }

    @Test("HookOn= chooses the events of a hook; a failure has the reason, the advice and the original's place")
    func occasions() async throws {
        let script = "echo $PIPELINED_OCCASION $PIPELINED_JOB$PIPELINED_BATCH >> $ROOT/occasions; cat >> $ROOT/given"
        try await with(script, on: "HookOn=failed cancelled\n") { daemon in
            try daemon.drop(as: "good.png")
            try await daemon.job("good.png", becomes: "done")
            try daemon.drop(Data("no picture".utf8), as: "broken.png")
            let failure = try #require(try await given(daemon, 1).first)
            #expect(failure["kind"] as? String == "over")
            let job = try #require(failure["job"] as? [String: Any])
            #expect(job["input"] as? String == "broken.png" && job["state"] as? String == "failed")
            #expect((job["error"] as? String)?.contains("this is no picture") == true)
            #expect((failure["advice"] as? String)?.contains("JPEG, PNG") == true)
            #expect(failure["original"] as? String == daemon.path("failed/noir/broken.png"))
            _ = try daemon.call(Call.Pause())
            try daemon.drop(as: "unwanted.png")
            let id = try await daemon.job("unwanted.png", becomes: "queued")
            _ = try await daemon.pipectl("add", "http://127.0.0.1:1/never.png")
            _ = try daemon.call(Call.CancelAll())
            let events = try await given(daemon, 3)
            #expect(events.allSatisfy { ($0["job"] as? [String: Any])?["state"] as? String != "done" })
            // One of the pictures was never downloaded, so its job has no original.
            let originals = events.dropFirst().map { $0["original"] as? String }
            #expect(Set(originals) == [daemon.path("cancelled/noir/unwanted.png"), nil])
            let occasions = try daemon.text("occasions").split(separator: "\n").map(String.init)
            #expect(Set(occasions) == ["failed 2", "cancelled \(id)", "cancelled \(id + 1)"])
        }
    }

    @Test("a hook whose HookOn= has changed does not get earlier events")
    func widened() async throws {
        try await with("cat >> $ROOT/given", on: "HookOn=failed\n") { daemon in
            try daemon.drop(as: "early.png")
            try await daemon.event { $0.kind == "picture" }
            await daemon.stop()
            let recipe = try daemon.text("etc/recipes.d/noir.recipe")
            try daemon.write(recipe.replacing("HookOn=failed", with: "HookOn=done"), to: "etc/recipes.d/noir.recipe")
            try await daemon.start()
            try daemon.drop(as: "late.png")
            let events = try await given(daemon, 1)
            #expect(events.map { ($0["job"] as? [String: Any])?["input"] as? String } == ["late.png"])
        }
    }

    @Test("the example for mail gives sendmail a mail with the job's story")
    func mail() async throws {
        let example = try Self.example("mail") { text in
            text.replacing("sendmail=/usr/sbin/sendmail", with: "sendmail=$ROOT/sendmail")
                .replacing("$(pipectl ", with: "$(\(Programs.path("pipectl")) ")
        }
        try await with(example, on: "HookOn=failed batch\n") { daemon in
            try daemon.write(
                "#!/bin/sh\ncat > \(daemon.path("new")) && mv \(daemon.path("new")) \(daemon.path("mail"))\n",
                to: "sendmail")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: daemon.path("sendmail"))
            try daemon.drop(Data("no picture".utf8), as: "broken.png")
            try await daemon.has("mail")
            let mail = try daemon.text("mail")
            #expect(mail.contains("\nTo: root\nSubject: pipelined: job 1 of noir: failed\n"))
            #expect(mail.contains("broken.png") && mail.contains("this is no picture that pipelined reads"))
            try FileManager.default.removeItem(atPath: daemon.path("mail"))
            try daemon.drop(as: "album/one.png")
            try await daemon.has("mail")
            let end = try daemon.text("mail")
            #expect(end.contains("batch 1 of noir has ended\n") && end.hasSuffix("\nAll of its pictures are done.\n"))
        }
    }

    @Test("the webhook example signs each event with the secret, and retries after a refusal")
    func webhook() async throws {
        let bodies = AsyncStream<Data>.makeStream()
        let answered = Mutex(0)
        let server = try HTTPServer { request, connection in
            bodies.continuation.yield(try connection.body(of: request))
            let isFirst = answered.withLock { answered in
                answered += 1
                return answered == 1
            }
            try connection.reply(isFirst ? 503 : 200)
        }
        let address = server.url("/pictures")
        let example = try Self.example("webhook") { text in
            text.replacing("https://example.org/pictures", with: address)
                .replacing("/etc/pipelined/webhook.secret", with: "$ROOT/secret")
        }
        try await with(example, on: "HookOn=done\n") { daemon in
            try daemon.write("a secret of more than thirty-two letters\n", to: "secret")
            try daemon.drop(as: "one.png")
            var sent: [Data] = []
            for await body in bodies.stream.prefix(2) { sent.append(body) }
            let requests = server.seen.requests
            #expect(sent[0] == sent[1])
            let event = try #require(try JSONSerialization.jsonObject(with: sent[0]) as? [String: Any])
            #expect((event["job"] as? [String: Any])?["input"] as? String == "one.png")
            try sent[0].write(to: URL(fileURLWithPath: daemon.path("body")))
            let digest = try await Programs.run(
                path: "/usr/bin/openssl",
                ["dgst", "-sha256", "-hmac", "a secret of more than thirty-two letters", daemon.path("body")])
            let wanted = try #require(digest.output.split(separator: " ").last).trimmingCharacters(in: .newlines)
            #expect(
                requests.map { $0.headers["x-pipelined-signature"] } == Array(repeating: "sha256=\(wanted)", count: 2))
        }
    }

    /// Returns the text of an installed example, after the change that a user would make.
    private static func example(_ name: String, _ change: (String) -> String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../packaging/hooks/\(name)")
            .standardized
        return change(try String(contentsOf: file, encoding: .utf8))
    }

    @Test("a hook's output is not limited, does not block it, and its beginning is logged")
    func talkative() async throws {
        try await with("cat >> $ROOT/given; seq 1 200000; exit 5") { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.says("ended with 5: 1 2 3 4")
            #expect(!daemon.log.contains(" 20000 "))
        }
    }

    @Test("a hook that writes megabytes costs the daemon no memory, and any kind of line breaks become spaces")
    func lines() async throws {
        let words = "printf 'no\\r\\nprinter\\rat\\v all\\n\\n\\n'"
        let script = "\(words); head -c 16000000 /dev/zero | tr '\\0' x; exit 5"
        try await with(script) { daemon in
            let before = daemon.resident
            try daemon.drop(as: "one.png")
            try await daemon.says("ended with 5: no printer at all xxx")
            #expect(daemon.peak - before < 12, "MB")
            while try daemon.status().problems.isEmpty { await Look.again() }
            let status = try await daemon.pipectl("status")
            let shown = status.output.split(separator: "\n").filter { $0.contains("the hook") || $0.contains("xxx") }
            #expect(shown.first?.contains("ended with 5: no printer at all xxx") == true, "\(status)")
            #expect(shown.count <= 3, "\(status)")
        }
    }

    @Test("a failure is shown and counted but not retried, and the next picture runs the hook again")
    func failure() async throws {
        let script = "cat >> $ROOT/given; [ -e $ROOT/good ] || { echo no printer >&2; exit 3; }"
        try await with(script) { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.says("ended with 3: no printer")
            let recipe = try #require(try daemon.call(Call.Recipes()).recipes.first { $0.name == "noir" })
            #expect(recipe.hook == daemon.path("hook") && recipe.hookFailures == 1)
            #expect(
                try daemon.status().problems.contains("the hook of 'noir' ended with 3: no printer (1 failed in all)"))
            try daemon.write("", to: "good")
            try daemon.drop(as: "two.png")
            #expect(try await given(daemon, 2).count == 2)
            // The restarted daemon does not repeat the events, and still reports the number of failures.
            await daemon.stop()
            try await daemon.start()
            try daemon.drop(as: "three.png")
            let inputs = try await given(daemon, 3).map { ($0["job"] as? [String: Any])?["input"] as? String }
            #expect(inputs == ["one.png", "two.png", "three.png"])
            #expect(try daemon.call(Call.Recipes()).recipes.first { $0.name == "noir" }?.hookFailures == 1)
        }
    }

    @Test("a hook that exceeds HookTimeout is killed with its children, and has delayed no picture")
    func slow() async throws {
        let settings = "[Daemon]\nHookTimeout=1s\n"
        try await with("mkfifo $ROOT/never; cat $ROOT/never & cat $ROOT/never", settings: settings) { daemon in
            try daemon.drop(as: "one.png")
            try daemon.drop(as: "two.png")
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == 2)
            try await daemon.says("took longer than HookTimeout=1s, and was ended")
        }
    }

    @Test("a hook's children in other sessions are killed with it at HookTimeout, orphans included")
    func sessions() async throws {
        let script = """
            (setsid sh -c 'echo $$ > $ROOT/orphan; exec sleep 10000' &)
            setsid --fork sh -c 'echo $$ > $ROOT/other; (setsid sleep 10000 & echo $! > $ROOT/deep); exec sleep 10000'
            exec sleep 10000
            """
        try await with("export ROOT\n" + script, settings: "[Daemon]\nHookTimeout=2s\n") { daemon in
            try daemon.drop(as: "one.png")
            try await daemon.says("took longer than HookTimeout=2s, and was ended")
            for name in ["orphan", "other", "deep"] {
                let process = try #require(Int32(daemon.text(name).trimmingCharacters(in: .newlines)))
                #expect(kill(process, 0) == -1 && errno == ESRCH, "\(name)")
            }
        }
    }

    @Test("background processes of a hook that exits in time continue")
    func background() async throws {
        let script = """
            [ -e $ROOT/wait ] && { : > $ROOT/second; exit; }
            mkfifo $ROOT/wait
            (cat $ROOT/wait; : > $ROOT/after) > /dev/null 2>&1 &
            """
        try await with(script) { daemon in
            try daemon.drop(as: "one.png")
            try daemon.drop(as: "two.png")
            // The hook's second run has begun, so its first run has ended.
            try await daemon.has("second")
            let told = try await Programs.run(path: "/bin/sh", ["-c", "echo > \(daemon.path("wait"))"])
            #expect(told.status == 0)
            try await daemon.has("after")
        }
    }

    @Test(
        "a hook that can't run is reported at a start, a reload and --check, before its first event, until it is fixed",
        arguments: [
            ("", "there is no file HOOK; put it there, or mend Hook="), ("/", "HOOK is not a file; mend Hook="),
            ("text", "HOOK can't be run by user \(User.current): Permission denied; `chmod +x` it"),
        ])
    func unfit(content: String, reason: String) async throws {
        let recipe = "etc/recipes.d/noir.recipe"
        try await DaemonFixture.with { daemon in
            let hook = daemon.path("hook")
            let line = "the hook of 'noir', \(hook), is not run: \(reason.replacing("HOOK", with: hook))"
            switch content {
            case "": break
            case "/": try FileManager.default.createDirectory(atPath: hook, withIntermediateDirectories: true)
            default: try daemon.write(content, to: "hook")
            }
            try daemon.write("[Recipe]\nHook=\(hook)\n[Output]\nChain=noir\n", to: recipe)
            let trial = try await daemon.pipectl("reload", "--check")
            #expect(trial.status == 1 && trial.output == "configuration and plugins are right\n")
            #expect(trial.errors == "pipectl: 1 hook can't be run:\n\(daemon.path(recipe)): \(line)\n", "\(trial)")
            let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(check.status == 78 && check.errors.contains(line), "\(check)")

            #expect(try daemon.call(Call.Reload()).hooks.map(\.message) == [line])
            for start in 0...1 {
                if start == 1 {
                    await daemon.stop(SIGKILL)
                    try await daemon.start()
                }
                try await daemon.says(line)
                let problem = try #require(try daemon.status().problems.first)
                #expect(problem.hasPrefix("the hook of 'noir' is not run: "), "\(problem)")
            }
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            try? FileManager.default.removeItem(atPath: hook)
            try daemon.write("#!/bin/sh\n", to: "hook")
            try #require(chmod(hook, 0o755) == 0)
            #expect(try daemon.call(Call.Reload()).hooks == [])
            while try !daemon.status().problems.isEmpty { await Look.again() }
        }
    }

    @Test("a hook that can't run is logged with the reason")
    func missing() async throws {
        try await with("true") { daemon in
            try FileManager.default.removeItem(atPath: daemon.path("hook"))
            try daemon.drop(as: "one.png")
            try await daemon.says("is not run: there is no file \(daemon.path("hook")); put it there, or mend Hook=")
            #expect(try daemon.call(Call.Recipes()).recipes.first { $0.name == "noir" }?.hookFailures == 1)
        }
    }

    @Test(
        "a hook on a disk that does not answer delays neither start, reload and stop, nor other recipes' hooks",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func hangingDisk() async throws {
        let files = ["etc/pipelined.conf": "[Daemon]\nHookTimeout=1s\nDrainTimeout=1s\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            let hook = daemon.path("far/hook")
            try daemon.write(
                "[Recipe]\nInbox=far\nHook=\(hook)\n[Output]\nChain=noir\n", to: "etc/recipes.d/far.recipe")
            let near = daemon.path("near")
            try daemon.write("#!/bin/sh\n: > \(daemon.path("told"))\n", to: "near")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: near)
            try daemon.write("[Recipe]\nHook=\(near)\n[Output]\nChain=noir\n", to: "etc/recipes.d/noir.recipe")
            let server = try HangingMount(daemon.path("far"))
            defer { server.end() }
            try await daemon.start()
            #expect(try daemon.call(Call.Reload()).problems == [])
            try daemon.drop(as: "sunset.png", inbox: "inbox/far")
            try await daemon.says("the hook of 'far', \(hook), waits for its disk, which does not answer")
            try daemon.drop(as: "sunrise.png")
            try await daemon.has("told")
            await daemon.stop()
        }
    }

    @Test("a hook without a folder in its path is refused")
    func relative() async throws {
        let files = ["etc/recipes.d/noir.recipe": "[Recipe]\nHook=announce\n[Output]\nChain=noir\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(outcome.status == 78)
            #expect((outcome.output + outcome.errors).contains("noir.recipe:2: Hook=announce is not an absolute path"))
        }
    }
}
