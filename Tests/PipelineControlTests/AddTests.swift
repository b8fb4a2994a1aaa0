import Foundation
import Glibc
import PipelineControl
import Synchronization
import SystemCalls
import TestTools
import Testing

struct AddTests {
    private let daemon: CannedDaemon

    init() throws {
        daemon = try CannedDaemon()
        let last = Mutex(0)
        daemon.on(Call.Add.self) { call, conversation in
            // The descriptor beside the call has to be readable, and to be that very file.
            var room = [UInt8](repeating: 0, count: 100)
            let got = conversation.passed.first.map { read($0.number, &room, room.count) } ?? -1
            guard got >= 0, conversation.passed.count == 1 else { throw ControlError.refused("no picture came") }
            var job = Sample.job(
                last.withLock {
                    $0 += 1; return $0
                }, "queued", input: call.name)
            job.batch = call.batch
            job.reason = String(decoding: room[..<got], as: UTF8.self)
            try conversation.reply(Call.Add.Reply(job: job))
        }
        daemon.answer(Call.NewBatch.self, .init(batch: 7))
        daemon.answer(Call.CloseBatch.self, .init())
    }

    private func file(_ name: String, _ contents: String) throws -> String {
        let path = daemon.root + "/" + name
        try contents.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    @Test("add passes the open file itself beside the call")
    func one() async throws {
        let outcome = try await Pipectl.run(
            "add", file("a.jpg", "pixels"), "--chain", "noir | save", "--json", at: daemon)
        let job = try #require(try outcome.objects().first)
        #expect(job["input"] as? String == "a.jpg")
        #expect(job["reason"] as? String == "pixels")
        #expect(job["batch"] is NSNull)
        #expect(try daemon.heard(Call.Add.self).first?.chain == "noir | save")
    }

    @Test("Several files are one batch; a missing one and a folder don't stop the others, but the exit code tells")
    func several() async throws {
        let outcome = try await Pipectl.run(
            "add", file("a.jpg", "1"), daemon.root + "/missing.jpg", daemon.root, file("b.jpg", "2"), "--json",
            at: daemon)
        #expect(outcome.status == 1)
        #expect(try outcome.objects().map { $0["batch"] as? Int } == [7, 7])
        let complaints = outcome.errors.split(separator: "\n")
        #expect(complaints.count == 2)
        #expect(complaints[0].contains("missing.jpg: No such file or directory"))
        #expect(complaints[0].contains(#""error":"CannotRead""#))
        #expect(complaints[1].contains("is a folder"))
    }

    @Test("add --wait prints what came of the jobs")
    func waiting() async throws {
        daemon.answer(Call.Wait.self, .init(jobs: [Sample.job(1, "failed", error: "truncated")]))
        let outcome = try await Pipectl.run("add", file("a.jpg", "1"), "--wait", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.output == "#1 failed  harbour.jpg  truncated\n")
        #expect(try daemon.heard(Call.Wait.self).map(\.ids) == [[1]])
    }

    @Test("add prints the number of the batch, and fails when a line of a list is no URL")
    func batches() async throws {
        let several = try await Pipectl.run("add", file("a.jpg", "1"), file("b.jpg", "2"), at: daemon)
        #expect(several.lines.last == "batch 7: 2 jobs")
        #expect(several.status == 0)
        daemon.answer(Call.AddList.self, .init(batch: 8, first: 1, last: 2))
        daemon.answer(
            Call.List.self, .init(jobs: [Sample.job(1, "queued"), Sample.job(2, "failed", error: "no URL")]))
        let list = try await Pipectl.run("add", file("some.urls", "x"), at: daemon)
        #expect(list.lines.last == "batch 8: 2 jobs")
        #expect(list.status == 1)
    }

    @Test("Ctrl-C in add --wait exits with 130, and says which jobs go on and how to come back to them")
    func interrupted() async throws {
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(1)]), continues: true)
        }
        for (words, message) in [
            (
                [],
                "pipectl: 2 jobs of batch 7 go on; `pipectl watch --batch 7` follows them, and `pipectl cancel --batch 7` stops them\n"
            ),
            (["--json"], #""error":"Interrupted""#),
        ] {
            daemon.answer(Call.NewBatch.self, .init(batch: 7))
            let files = try ["a.jpg", "b.jpg", "c.jpg"].map { try file($0, "1") }
            let process = try Pipectl.start(["add"] + files + ["--wait"] + words, at: daemon)
            await process.until { process.output.contains("harbour.jpg") || process.status != nil }
            process.signal(SIGINT)
            let outcome = await process.outcome()
            #expect(outcome.status == 130)
            #expect(outcome.errors.contains(message))
        }
    }

    @Test("A chain that is wrong is told once, and stops the rest")
    func wrongChain() async throws {
        daemon.on(Call.Add.self) { _, _ in
            throw ControlError.badChain("unknown stage 'niro' at column 1", column: 1)
        }
        let outcome = try await Pipectl.run(
            "add", file("a.jpg", "1"), file("b.jpg", "2"), "--chain", "niro", at: daemon)
        #expect(outcome.status == 2)
        #expect(outcome.errors == "pipectl: unknown stage 'niro' at column 1\n")
        #expect(try daemon.heard(Call.Add.self).count == 1)
    }

    @Test("--after goes with each of the pictures; --anyway alone makes no sense")
    func after() async throws {
        let outcome = try await Pipectl.run(
            "add", "--after", "4", "5", file("a.jpg", "1"), file("b.jpg", "2"), "--anyway", at: daemon)
        #expect(outcome.status == 0)
        let calls = try daemon.heard(Call.Add.self)
        #expect(calls.map(\.after) == [[4, 5], [4, 5]])
        #expect(calls.map(\.anyway) == [true, true])
        #expect(try await Pipectl.run("add", file("c.jpg", "1"), "--anyway", at: daemon).status == 2)
    }

    @Test("A recipe and a chain at once are refused")
    func both() async throws {
        let outcome = try await Pipectl.run("add", "a.jpg", "--recipe", "noir", "--chain", "noir", at: daemon)
        #expect(outcome.status == 2)
    }
}
