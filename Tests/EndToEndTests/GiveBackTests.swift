import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Before pipelined is removed")
struct GiveBackTests {
    private static func giveBack(_ daemon: DaemonFixture) async throws -> Outcome {
        try await Programs.run("pipelined", ["--root", daemon.root.path, "--give-back"])
    }

    @Test(
        "each claimed original returns under its name, added pictures are listed, and a later start processes all")
    func all() async throws {
        let files = [
            "state/id": "test\n", "etc/recipes.d/other.recipe": "[Recipe]\nInbox=other\n[Output]\nChain=save\n",
            "archive/other": "in the way",
        ]
        try await DaemonFixture.with(files) { daemon in
            // This job has ended, but its original can't be moved to the archive.
            try daemon.drop(as: "stuck.png", inbox: "inbox/other")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            _ = try daemon.call(Call.Pause(queue: "render"))
            for path in ["a.png", "album/b.png"] {
                try daemon.drop(as: path)
                try await daemon.job(path, becomes: "queued")
            }
            // The test later puts another file of this name into the inbox, before the original is given back.
            try daemon.drop(as: "again.png")
            try await daemon.job("again.png", becomes: "queued")
            try daemon.write(Picture.small, to: "mine/added.png")
            #expect(try await daemon.pipectl("add", daemon.path("mine/added.png")).status == 0)
            #expect(try await Self.giveBack(daemon).status == 75)
            await daemon.stop()
            try daemon.write("another", to: "inbox/again.png")
            // Recreate the state after a crash: the files were claimed, but the claims were not recorded yet.
            try daemon.write(Picture.small, to: "inbox/.pipelined/test/7/unknown.png")
            try daemon.write(Picture.small, to: "inbox/.pipelined/0/older.png")

            let outcome = try await Self.giveBack(daemon)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(
                daemon.files(in: "inbox") == ["a.png", "again.png", "album/b.png", "older.png", "unknown.png"])
            #expect(daemon.files(in: "recovered") == ["noir/again.png", "other/stuck.png"])
            #expect(!daemon.exists("inbox/.pipelined") && !daemon.exists("inbox/other/.pipelined"))
            #expect(outcome.output.contains("4 pictures are back in \(daemon.path("inbox"))"), "\(outcome.output)")
            #expect(outcome.output.contains("2 pictures are back in \(daemon.path("recovered"))"))
            #expect(outcome.output.contains("added.png, which was downloaded or added, waits in"))
            #expect(try await Self.giveBack(daemon).output.contains("are back") == false)

            try FileManager.default.removeItem(atPath: daemon.path("inbox/again.png"))
            try await daemon.start()
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(
                daemon.files(in: "archive").filter { $0.hasPrefix("noir/") }
                    == ["noir/a.png", "noir/added.png", "noir/album/b.png", "noir/older.png", "noir/unknown.png"])
            #expect(daemon.files(in: "outbox/noir").contains("added.jpg"))
        }
    }

    @Test("a result that a crash left of an unfinished job is taken back, and published once after the next start")
    func halfPublished() async throws {
        try await DaemonFixture.with(["state/id": "test\n"]) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "queued")
            await daemon.stop()
            // Recreate the state after a crash: the result was renamed, but the rename was not recorded yet.
            let staging = daemon.path("outbox/noir/.staging/test/1-0.jpg")
            try daemon.write("", to: "outbox/noir/.staging/test/.keep")
            try daemon.write("result", to: "outbox/noir/a.jpg")
            let step = #"{"staging":"\#(staging)","target":"\#(daemon.path("outbox/noir/a.jpg"))","conflict":"number"}"#
            try await daemon.ledger("UPDATE jobs SET state = 'running', intent = '{\"steps\":[\(step)]}'")
            let outcome = try await Self.giveBack(daemon)
            #expect(outcome.status == 0, "\(outcome)")
            #expect(daemon.files(in: "inbox") == ["a.png"])
            #expect(daemon.files(in: "outbox") == ["noir/.staging/test/.keep"])
            try await daemon.start()
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox").filter { !$0.hasSuffix(".keep") } == ["noir/a.jpg"])
        }
    }

    @Test("nothing happens where nothing was ever claimed")
    func nothing() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let outcome = try await Self.giveBack(daemon)
            #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
            #expect(daemon.files(in: "") == [])
        }
    }
}
