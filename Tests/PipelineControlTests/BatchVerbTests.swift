import PipelineControl
import TestTools
import Testing

@testable import pipectl

/// Tests `pipectl batches`, and the option `--batch` of other verbs.
struct BatchVerbTests {
    private static let morning = "2026-03-01T09:30:00.250Z"

    private func batch(_ id: Int, _ name: String?, isOpen: Bool = false, ended: String? = nil) -> Control.Batch {
        var batch = Control.Batch(id: id, name: name, running: isOpen ? 2 : 0, done: 19, failed: 1)
        (batch.open, batch.created, batch.ended, batch.recipe) = (isOpen, Self.morning, ended, "web")
        return batch
    }

    @Test("batches lists the batches, newest last, with their jobs by state, from several replies")
    func list() async throws {
        let daemon = try CannedDaemon()
        let (old, new) = (batch(3, "lucerne", ended: Self.morning), batch(12, nil, isOpen: true))
        daemon.answer(Call.Batches.self, .init(batches: [old]), .init(batches: [new]))
        let page = try await Pipectl.run("batches", at: daemon, environment: ["TZ": "UTC"])
        #expect(page.status == 0 && page.errors.isEmpty)
        #expect(
            page.lines == [
                "BATCH  NAME     RECIPE  CREATED           ENDED             JOBS",
                "    3  lucerne  web     2026-03-01 09:30  2026-03-01 09:30  19 done, 1 failed",
                "   12           web     2026-03-01 09:30  open              2 running, 19 done, 1 failed",
            ])
        let documents = try await Pipectl.run("batches", "--all", "--json", at: daemon).objects()
        #expect(documents.map { $0["id"] as? Int } == [3, 12])
        #expect(documents[0]["ended"] as? String == Self.morning)
        #expect(try daemon.heard(Call.Batches.self).map(\.limit) == [20, nil])
        daemon.answer(Call.Batches.self, .init(batches: []))
        #expect(try await Pipectl.run("batches", at: daemon).output == "no batches\n")
    }

    @Test("The table fits, and shortened names keep both ends", arguments: [60, 80, 200])
    func widths(width: Int) {
        let long = "lucerne-" + String(repeating: "x", count: 100) + "-end"
        let lines = Table([batch(3, long, ended: Self.morning), batch(12, "a", isOpen: true)]).lines(width: width)
        #expect(lines.allSatisfy { $0.columns <= width })
        let row = lines[1].rendered(color: false)
        #expect(row.contains("3  l") && row.contains("-end"))
        #expect(row.contains("2026-03-01") == (width >= 80))
        #expect(row.contains("19 done"))
    }

    @Test("A name stands for the number of its batch, and other batches with that name are listed on standard error")
    func names() async throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.FindBatch.self) { call, conversation in
            let batch = Control.Batch(id: 12, name: call.batch == "2026" ? "tokyo" : call.batch)
            try conversation.reply(Call.FindBatch.Reply(batch: batch, others: call.batch == "once" ? 0 : 1))
        }
        daemon.answer(Call.List.self, .init(jobs: []))
        let once = try await Pipectl.run("list", "--batch", "once", at: daemon)
        #expect(once.status == 0 && once.errors.isEmpty)
        let twice = try await Pipectl.run("list", "--batch", "lucerne", at: daemon)
        #expect(
            twice.errors
                == "pipectl: batch 12 is the newest called 'lucerne', and 1 other has that name; `pipectl batches --all` lists them\n"
        )
        let number = try await Pipectl.run("list", "--batch", "2026", at: daemon)
        #expect(
            number.errors
                == "pipectl: batch 12 has that number, and 1 other has the name '2026'; `pipectl batches --all` lists them\n"
        )
        let json = try await Pipectl.run("list", "--batch", "lucerne", "--json", at: daemon)
        #expect(json.errors.contains(#""others":1"#))
        #expect(try daemon.heard(Call.List.self).map(\.batch) == [12, 12, 12, 12])
    }

    @Test("An unknown name gives the daemon's error, and nothing else is requested")
    func unknown() async throws {
        let daemon = try CannedDaemon()
        daemon.on(Call.FindBatch.self) { _, _ in throw ControlError.badValue("there is no batch 'x'") }
        for words in [["cancel"], ["list"], ["watch"], ["priority", "low"]] {
            let outcome = try await Pipectl.run(words + ["--batch", "x"], at: daemon)
            #expect(outcome.status == 2 && outcome.errors == "pipectl: there is no batch 'x'\n")
        }
        #expect(try daemon.heard(Call.CancelMatching.self).isEmpty)
    }
}
