import Foundation
import PipelineControl
import TestTools
import Testing

struct StatusTests {
    private func daemon(_ status: Control.Overview) throws -> CannedDaemon {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Status.self, .init(status: status))
        return daemon
    }

    @Test("status --json has the documented names")
    func names() async throws {
        let daemon = try daemon(Sample.status(jobs: Sample.jobs { $0.done = 3 }))
        let document = try await Pipectl.run("status", "--json", at: daemon).document()
        #expect(document["version"] as? String == "0.1.0")
        let jobs = try #require(document["jobs"] as? [String: Int])
        #expect(
            Set(jobs.keys) == [
                "waiting", "queued", "running", "cancelling", "done", "failed", "cancelled", "ignored",
            ])
        #expect(jobs["done"] == 3)
        let queues = try #require(document["queues"] as? [String: [String: Any]])
        let render = try #require(queues["render"])
        #expect(
            Set(render.keys) == [
                "configured", "effective", "running", "waiting", "paused", "reason", "automatic", "held",
            ])
        #expect(render["configured"] is NSNull)
        #expect(render["paused"] as? Bool == true)
    }

    @Test("Without a verb pipectl prints the status, with its options")
    func bare() async throws {
        let daemon = try daemon(Sample.status())
        let bare = try await Pipectl.run("--json", at: daemon)
        #expect(try await Pipectl.run("--json", "status", at: daemon).output == bare.output)
        #expect(bare.status == 0)
    }

    @Test("The overview begins with the problems that keep the daemon from its work")
    func problemsFirst() async throws {
        let daemon = try daemon(
            Sample.status(
                jobs: Sample.jobs {
                    $0.running = 1
                    $0.failed = 2
                }, inboxes: [Sample.inbox], problems: ["the disk is full"]))
        daemon.answer(Call.Progress.self, Sample.progress(running: 1, of: 3))
        let lines = try await Pipectl.run("status", at: daemon).lines
        #expect(lines[0].hasPrefix("pipelined 0.1.0 · up "))
        #expect(lines[1] == "problem: the disk is full")
        #expect(lines[2] == "1 running, 2 failed")
        #expect(lines[4].hasSuffix("░  2 of 3"))
        #expect(lines[5].hasPrefix("  #3 download  harbour.jpg  ███░░░░░░░  38 %"))
        #expect(lines.contains("render         1  auto: 2        7  paused: the CPU is needed"))
        #expect(lines.contains { $0.contains("/srv/inbox") && $0.contains("2 settling, 1 ignored") })
        #expect(lines.last == "notes.txt   no recipe takes it")
    }

    @Test(
        "--check prints a line for monitors, and exits with 0 if all is well, 1 on problems, 2 without a daemon",
        arguments: [
            ([], 2, nil, "failed=2 unfinished=1 ignored=0", 1, "WARNING: 2 jobs failed"),
            (["--failed", "2"], 2, nil, "failed=2 unfinished=1 ignored=0", 0, "OK: no failures"),
            (["--failed", "2"], 3, nil, "failed=3 unfinished=1 ignored=0", 1, "WARNING: 3 jobs failed"),
            (["--unfinished", "1"], 0, nil, "failed=0 unfinished=1 ignored=0", 0, "OK: no failures"),
            (["--unfinished", "0"], 0, nil, "failed=0 unfinished=1 ignored=0", 1, "WARNING: 1 job is unfinished"),
            ([], 0, "the disk | is full", "failed=0 unfinished=1 ignored=0", 1, "WARNING: the disk / is full"),
        ] as [([String], Int, String?, String, Int32, String)])
    func check(
        options: [String], failed: Int, problem: String?, figures: String, code: Int32, words: String
    ) async throws {
        let daemon = try daemon(
            Sample.status(
                jobs: Sample.jobs {
                    $0.failed = failed
                    $0.running = 1
                }, queues: [:], problems: problem.map { [$0] } ?? []))
        let outcome = try await Pipectl.run(["status", "--check"] + options, at: daemon)
        #expect(outcome.status == code)
        #expect(outcome.lines.count == 1)
        #expect(outcome.output.hasPrefix("pipelined \(words)"), "\(outcome.output)")
        #expect(outcome.output.hasSuffix(" | \(figures)\n"), "\(outcome.output)")
    }

    @Test("--check names a paused queue, and counts only recent failures")
    func checkSince() async throws {
        let daemon = try daemon(Sample.status(jobs: Sample.jobs { $0.failed = 40 }))
        daemon.answer(Call.List.self, .init(jobs: [Sample.job(7)]))
        let outcome = try await Pipectl.run("status", "--check", "--since", "1d", "--json", at: daemon)
        let document = try outcome.document()
        #expect(outcome.status == 1)
        #expect(document["state"] as? String == "attention")
        #expect(document["failed"] as? Int == 1)
        #expect(
            document["reasons"] as? [String] == [
                "queue render is paused (the CPU is needed)", "1 job failed since 1d",
            ])
        #expect(try daemon.heard(Call.List.self).map(\.since) == ["1d"])
        let away = try await Pipectl.run("status", "--check", "--socket", "/nowhere/control.sock")
        #expect(away.status == 2)
        #expect(away.output.hasPrefix("pipelined CRITICAL: no daemon answers at /nowhere/control.sock"))
        let nobody = try await Pipectl.run("status", "--check", "--json", "--socket", "/nowhere/control.sock")
            .document()
        #expect(nobody["state"] as? String == "away")
        for figure in ["failed", "unfinished", "ignored", "disk"] { #expect(nobody[figure] is NSNull) }
        let alone = try await Pipectl.run("status", "--failed", "3", at: daemon)
        #expect(alone.status == 2 && alone.errors.contains("pipectl status --check --failed N"))
    }

    @Test(
        "a --check that can't be made exits with 3, so that no monitor mistakes it for the daemon's state",
        arguments: [
            (["status", "--check", "--failed", "many"], "--failed needs a number, not 'many'"),
            (["st", "--bogus", "--check"], "unknown option '--bogus' for status"),
            (["--socket", "/", "st", "--check", "--disk", "101"], "--disk is a percentage, up to 100, not '101'"),
            (["status", "--check", "--since", "1d"], "'1d' is not a time"),
            (["status", "--check", "--color", "pink"], "--color is one of auto, always, never, not 'pink'"),
        ])
    func wrongCheck(words: [String], reason: String) async throws {
        let daemon = try daemon(Sample.status())
        daemon.on(Call.List.self) { _, _ in throw ControlError.badValue("'1d' is not a time") }
        let outcome = try await Pipectl.run(words, at: daemon)
        #expect(outcome.status == 3 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output == "pipelined UNKNOWN: \(reason)\n")
        let json = try await Pipectl.run(words + ["-j"], at: daemon)
        #expect(json.status == 3)
        #expect(try json.document()["state"] as? String == "unknown")
        #expect(try json.document()["reasons"] as? [String] == [reason])
        // Here `--check` belongs to `reload`. Like other verbs, `reload` exits with 2 because it does not know
        // `--bogus`.
        #expect(try await Pipectl.run("reload", "--check", "--bogus", at: daemon).status == 2)
    }

    @Test("--check of a daemon that accepts the call and stays silent times out, and counts as no daemon")
    func silent() async throws {
        let daemon = try daemon(Sample.status())
        daemon.on(Call.Status.self) { _, _ in }
        let outcome = try await Pipectl.run("status", "--check", "--timeout", "0.1", at: daemon)
        #expect(outcome.status == 2 && outcome.errors.isEmpty)
        let line = "pipelined CRITICAL: the daemon at \(daemon.path) has not answered for 1 s\n"
        #expect(outcome.output == line, "\(outcome)")
    }

    @Test("Colour is used on terminals and on request, and never after a refusal")
    func color() async throws {
        let daemon = try daemon(Sample.status())
        let escape = "\u{1b}["
        #expect(!(try await Pipectl.run("status", at: daemon).output.contains(escape)))
        #expect(try await Pipectl.run("status", "--color", "always", at: daemon).output.contains(escape))
        let terminal = try PipectlTerminal("status", at: daemon)
        #expect(terminal.finish() == 0)
        #expect(terminal.seen.contains(escape))
        let refusing = try PipectlTerminal("status", at: daemon, environment: ["NO_COLOR": "1"])
        #expect(refusing.finish() == 0)
        #expect(!refusing.seen.contains(escape))
    }
}
