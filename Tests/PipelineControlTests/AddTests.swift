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
            // The descriptor that came with the call must be readable, and must refer to the added file.
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

    @Test("add passes the open file itself with the call")
    func one() async throws {
        let outcome = try await Pipectl.run(
            "add", file("a.jpg", "pixels"), "--chain", "noir | save", "--raw", "develop", "--json", at: daemon)
        let job = try #require(try outcome.objects().first)
        #expect(job["input"] as? String == "a.jpg")
        #expect(job["reason"] as? String == "pixels")
        #expect(job["batch"] is NSNull)
        #expect(try daemon.heard(Call.Add.self).first?.chain == "noir | save")
        #expect(try daemon.heard(Call.Add.self).first?.raw == "develop")
    }

    @Test(
        "Several files are one batch; missing and invalid files don't stop the others, but the exit code is 1"
    )
    func several() async throws {
        #expect(mkfifo(daemon.root + "/pipe.jpg", 0o600) == 0)
        let outcome = try await Pipectl.run(
            "add", file("a.jpg", "1"), daemon.root + "/missing.jpg", daemon.root + "/pipe.jpg", file("b.jpg", "2"),
            "--json", at: daemon)
        #expect(outcome.status == 1)
        #expect(try outcome.objects().map { $0["batch"] as? Int } == [7, 7])
        let complaints = outcome.errors.split(separator: "\n")
        #expect(complaints.count == 2)
        #expect(complaints[0].contains("missing.jpg: No such file or directory"))
        #expect(complaints[0].contains(#""error":"CannotRead""#))
        #expect(complaints[1].contains("is not a regular file"))
    }

    /// Creates a folder with these files below the daemon's root; returns its path.
    private func folder(_ name: String, _ files: String...) throws -> String {
        for file in files {
            let path = "\(daemon.root)/\(name)/\(file)"
            try FileManager.default.createDirectory(
                atPath: FileSystem.folder(of: path), withIntermediateDirectories: true)
            try "pixels".write(toFile: path, atomically: false, encoding: .utf8)
        }
        return "\(daemon.root)/\(name)"
    }

    @Test("A folder is a batch with its name and its pictures in name order, and ignored files are listed")
    func folder() async throws {
        daemon.on(Call.Sift.self) { call, conversation in
            let ignored = call.names.filter { $0.hasSuffix(".txt") }
            try conversation.reply(
                Call.Sift.Reply(ignored: ignored.map { .init(path: $0, reason: "no recipe takes it") }))
        }
        let album = try folder("album", "img10.jpg", "img2.jpg", "deep/a.jpg", "a.txt", "b.txt", ".git/c.jpg")
        #expect(symlink("/etc", album + "/link") == 0)
        #expect(symlink(album, daemon.root + "/other-name") == 0)
        let outcome = try await Pipectl.run("add", daemon.root + "/other-name/", at: daemon)
        #expect(outcome.status == 0)
        #expect(outcome.lines.last == "batch 7 album: 3 jobs")
        #expect(
            outcome.errors.split(separator: "\n").map { $0.drop { $0 != "/" } } == [
                "\(daemon.root)/other-name/: 2 files are left out: no recipe takes it",
                "\(daemon.root)/other-name/: 1 file is left out: a symbolic link is not followed",
                "\(daemon.root)/other-name/: 1 file is left out: it is hidden",
            ])
        let calls = try daemon.heard(Call.Add.self)
        #expect(calls.map(\.name) == ["img2.jpg", "img10.jpg", "a.jpg"])
        #expect(calls.map(\.folder) == ["album", "album", "album/deep"])
        #expect(calls.map(\.batch) == [7, 7, 7])
        #expect(try daemon.heard(Call.NewBatch.self).map(\.name) == ["album"])
        #expect(try daemon.heard(Call.CloseBatch.self).map(\.batch) == [7])
        let json = try await Pipectl.run("add", album, "--recipe", "web", "--json", at: daemon)
        #expect(json.errors.contains(#""files":2,"folder":"\#(album)","reason":"no recipe takes it""#))
        #expect(try daemon.heard(Call.Sift.self).last?.recipe == "web")
    }

    @Test("A folder without pictures makes no batch and fails; files and folders given together are separate batches")
    func folders() async throws {
        daemon.answer(Call.Sift.self, .init(ignored: []))
        let (empty, one, other) = try (folder("empty", ".hidden"), folder("one", "a.jpg"), folder("two", "b.jpg"))
        daemon.on(Call.Sift.self) { call, conversation in
            try conversation.reply(
                Call.Sift.Reply(
                    ignored: call.names.filter { $0.hasPrefix(".") }.map {
                        .init(path: $0, reason: "it is hidden")
                    }))
        }
        let nothing = try await Pipectl.run("add", empty, at: daemon)
        #expect(nothing.status == 1 && nothing.output.isEmpty)
        #expect(nothing.errors.hasSuffix("\(empty): there is no picture to add\n"))
        #expect(try daemon.heard(Call.NewBatch.self).isEmpty)
        let several = try await Pipectl.run(
            "add", one, file("c.jpg", "1"), other, empty, file("d.jpg", "1"), at: daemon)
        #expect(several.status == 1)
        #expect(try daemon.heard(Call.NewBatch.self).map(\.name) == [nil, "one", "two"])
        #expect(try daemon.heard(Call.Add.self).map(\.name) == ["c.jpg", "d.jpg", "a.jpg", "b.jpg"])
    }

    @Test("add --wait prints the results of the jobs")
    func waiting() async throws {
        daemon.answer(Call.Wait.self, .init(jobs: [Sample.job(1, "failed", error: "truncated")]))
        let outcome = try await Pipectl.run("add", file("a.jpg", "1"), "--wait", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.output == "#1 failed  harbour.jpg  truncated\n")
        #expect(try daemon.heard(Call.Wait.self).map(\.ids) == [[1]])
    }

    @Test("add prints the number of the batch, and fails when a line of a list is not a URL")
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

    @Test("Ctrl-C in add --wait exits with 130, and says which jobs go on and how to return to them")
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

    @Test("An invalid chain is reported once, and nothing else is added")
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

    @Test("--after applies to each picture, and --anyway alone is refused")
    func after() async throws {
        let outcome = try await Pipectl.run(
            "add", "--after", "4", "5", file("a.jpg", "1"), file("b.jpg", "2"), "--anyway", at: daemon)
        #expect(outcome.status == 0)
        let calls = try daemon.heard(Call.Add.self)
        #expect(calls.map(\.after) == [[4, 5], [4, 5]])
        #expect(calls.map(\.anyway) == [true, true])
        #expect(try await Pipectl.run("add", file("c.jpg", "1"), "--anyway", at: daemon).status == 2)
    }

    @Test("A recipe and a chain together are refused")
    func both() async throws {
        let outcome = try await Pipectl.run("add", "a.jpg", "--recipe", "noir", "--chain", "noir", at: daemon)
        #expect(outcome.status == 2)
    }

    @Test("--raw applies to a chain, and takes two values")
    func raw() async throws {
        let recipe = ["--recipe", "noir", "--raw", "preview"]
        for words in [["--raw", "develop"], recipe, ["--chain", "noir", "--raw", "x"]] {
            for verb in ["add", "try"] {
                let outcome = try await Pipectl.run([verb, file("a.jpg", "1")] + words, at: daemon)
                #expect(outcome.status == 2 && outcome.errors.contains("--raw"), "\(outcome)")
            }
        }
    }
}
