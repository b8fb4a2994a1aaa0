import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

struct JobOutputTests {
    private let names: Set = [
        "id", "batch", "recipe", "input", "url", "state", "reason", "outputs", "error", "created", "finished",
        "before", "after", "milliseconds", "failure", "setbacks", "due", "redo", "bytes",
    ]

    @Test("list --json prints one job per line, with every field")
    func list() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(
            Call.List.self, .init(jobs: [Sample.job(1), Sample.job(2, "failed", error: "truncated")]),
            .init(jobs: [Sample.job(3, "waiting", reason: "paused")]))
        let jobs = try await Pipectl.run("list", "--json", at: daemon).objects()
        #expect(jobs.map { $0["id"] as? Int } == [1, 2, 3])
        for job in jobs { #expect(Set(job.keys) == names) }
        #expect(jobs[0]["outputs"] as? [String] == ["/srv/outbox/noir/harbour.jpg"])
        #expect(jobs[1]["error"] as? String == "truncated")
        #expect(jobs[2]["reason"] as? String == "paused")
        #expect(jobs[2]["finished"] is NSNull)
    }

    @Test("The filters of list reach the daemon")
    func filters() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.List.self, .init(jobs: []))
        let outcome = try await Pipectl.run(
            "list", "--state", "waiting,queued", "--state=running", "--failed", "--recipe", "noir", "--batch", "4",
            "--limit", "10", "--since", "1h", "--until=2026-03-01", at: daemon)
        #expect(outcome.output == "no jobs\n")
        let call = try #require(try daemon.heard(Call.List.self).first)
        #expect(call.states == ["waiting", "queued", "running", "failed"])
        #expect(call.recipe == "noir")
        #expect(call.batch == 4)
        #expect(call.limit == 10)
        #expect(call.since == "1h")
        #expect(call.until == "2026-03-01")
    }

    @Test("The table is aligned, and shows the result of each job")
    func table() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(
            Call.List.self, .init(jobs: [Sample.job(9), Sample.job(10, "waiting", reason: "settling")]))
        #expect(
            try await Pipectl.run("list", at: daemon).lines == [
                "ID  STATE    RECIPE  CREATED           INPUT        OUTCOME",
                " 9  done     noir    2026-03-01 09:30  harbour.jpg  /srv/outbox/noir/harbour.jpg",
                "10  waiting  noir    2026-03-01 09:30  harbour.jpg  settling",
            ])
    }

    @Test("Remarks about a done job follow its results")
    func remarked() async throws {
        let daemon = try CannedDaemon()
        let jobs = [Sample.job(9, reason: "left: a.jpg"), Sample.job(10, "cancelled", reason: "undone")]
        daemon.answer(Call.List.self, .init(jobs: jobs))
        daemon.answer(Call.Wait.self, .init(jobs: jobs))
        let table = try await Pipectl.run("list", at: daemon).lines
        #expect(table[1].hasSuffix("  /srv/outbox/noir/harbour.jpg; left: a.jpg"))
        #expect(table[2].hasSuffix("  undone"))
        let lines = try await Pipectl.run("wait", "9", "10", at: daemon).lines
        #expect(lines[0] == "#9 done  harbour.jpg → /srv/outbox/noir/harbour.jpg; left: a.jpg")
    }

    @Test("A download is named by its URL, a batch by its number, and each result has its own line on a terminal")
    func named() async throws {
        let daemon = try CannedDaemon()
        var (one, other) = (Sample.job(1, "waiting", input: "photo.jpg", reason: "settling"), Sample.job(2))
        (one.url, one.batch) = ("https://example.com/lucerne/photo.jpg?token=…", 7)
        other.outputs = ["/srv/outbox/a.jpg", "/srv/outbox/a.thumb.webp"]
        daemon.answer(Call.List.self, .init(jobs: [one, other]))
        let piped = try await Pipectl.run("list", at: daemon)
        #expect(piped.lines[0].hasPrefix("ID  STATE    RECIPE  BATCH  CREATED"))
        #expect(piped.lines[1].hasPrefix(" 1  waiting  noir        7 "))
        #expect(piped.lines[1].contains("  example.com/lucerne/photo.jpg  settling"))
        #expect(piped.lines[2].hasSuffix("/srv/outbox/a.jpg, /srv/outbox/a.thumb.webp"))
        let terminal = try PipectlTerminal("list", "--color", "never", at: daemon)
        #expect(terminal.finish() == 0)
        #expect(terminal.seen.contains("/srv/outbox/a.jpg\r\n") && terminal.seen.contains("a.thumb.webp\r\n"))
        daemon.answer(Call.Wait.self, .init(jobs: [one]))
        #expect(
            try await Pipectl.run("wait", "1", at: daemon).lines == [
                "#1 waiting  example.com/lucerne/photo.jpg  settling"
            ])
    }

    @Test("A file's name can't control the terminal")
    func injection() async throws {
        let daemon = try CannedDaemon()
        let name = "a\u{1b}]0;owned\u{7}\n\u{202e}gpj.\u{9b}2J"
        daemon.answer(Call.List.self, .init(jobs: [Sample.job(1, "running", input: name)]))
        let outcome = try await Pipectl.run("list", at: daemon)
        #expect(outcome.lines.count == 2)
        #expect(outcome.output.contains(#"a\u{1b}]0;owned\u{7}\n\u{202e}gpj.\u{9b}2J"#))
        let job = try #require(try await Pipectl.run("list", "--json", at: daemon).objects().first)
        #expect(job["input"] as? String == name)
    }

    @Test("On a terminal long names are shortened in the middle; elsewhere they are whole")
    func shortening() async throws {
        let daemon = try CannedDaemon()
        let name = "the-beginning-" + String(repeating: "x", count: 200) + "-the-end.jpg"
        daemon.answer(Call.List.self, .init(jobs: [Sample.job(1, "running", input: name)]))
        #expect(try await Pipectl.run("list", at: daemon).output.contains(name))
        let terminal = try PipectlTerminal("list", "--color", "never", at: daemon)
        #expect(terminal.finish() == 0)
        let row = try #require(terminal.seen.split(separator: "\r\n").last)
        #expect(row.count <= 80)
        #expect(row.contains("the-begin") && row.contains("…") && row.contains("end.jpg"))
    }

    @Test("show tells the whole story")
    func show() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Show.self, .init(story: Sample.story))
        let page = try await Pipectl.run("show", "#12", at: daemon)
        for part in [
            "Job 12  done", "/srv/archive/noir/harbour.jpg", "4.1 MB → 1.0 MB (25 %)", "35 ms", "jpeg 4000 × 3000",
            "resize scale=0.5 | noir", "  render     finished", "jpeg, shrink 2", "#9 done", "#13 waiting and 100 more",
            "high",
        ] {
            #expect(page.output.contains(part))
        }
        #expect(!page.output.contains("Operation"))
        #expect(try daemon.heard(Call.Show.self).map(\.id) == [12])
        let story = try await Pipectl.run("show", "12", "--json", at: daemon).document()
        #expect((story["job"] as? [String: Any])?["id"] as? Int == 12)
    }

    @Test("wait prints jobs as they end, and fails when one of them failed")
    func wait() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Wait.self, .init(jobs: [Sample.job(1)]), .init(jobs: [Sample.job(2)]))
        let good = try await Pipectl.run("wait", "--all", "--json", at: daemon)
        #expect(good.status == 0)
        #expect(try good.objects().map { $0["id"] as? Int } == [1, 2])
        for state in ["failed", "cancelled"] {
            daemon.answer(Call.Wait.self, .init(jobs: [Sample.job(1), Sample.job(2, state)]))
            #expect(try await Pipectl.run("wait", "1", "2", at: daemon).status == 1)
        }
        #expect(try daemon.heard(Call.Wait.self).map(\.ids) == [[], [1, 2], [1, 2]])
        let held = Call.Wait.Reply(jobs: [], waitsFor: "job 1: its original stays at /a")
        daemon.answer(Call.Wait.self, held, held, .init(jobs: [Sample.job(1)]))
        let words = try await Pipectl.run("wait", at: daemon)
        #expect(words.status == 0 && words.errors == "pipectl: waits: job 1: its original stays at /a\n")
        daemon.answer(Call.Wait.self, held, .init(jobs: [Sample.job(1)]))
        let documents = try await Pipectl.run("wait", "--json", at: daemon)
        #expect(documents.errors == #"{"jobs":[],"waitsFor":"job 1: its original stays at /a"}"# + "\n")
        #expect(try documents.objects().count == 1)
    }

    @Test("A reader that stops ends pipectl silently")
    func brokenPipe() async throws {
        let daemon = try CannedDaemon()
        let many = Call.List.Reply(jobs: (0..<5000).map { Sample.job($0) })
        daemon.answer(Call.List.self, many)
        let outcome = try await Pipectl.run(["list", "--json"], at: daemon, output: Self.closedPipe())
        #expect(outcome.errors.isEmpty)
        #expect(outcome.status == -SIGPIPE)
    }

    private static func closedPipe() throws -> Descriptor {
        let (reading, writing) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        return withExtendedLifetime(reading) { writing }
    }
}
