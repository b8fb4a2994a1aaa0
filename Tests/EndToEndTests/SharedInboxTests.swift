import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

/// Tests inboxes whose folders other users may write to.
@Suite("Inboxes that others can write")
struct SharedInboxTests {
    private static func folder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Runs `body` with a daemon that has claimed one picture and whose rendering is paused.
    private static func with(_ body: (DaemonFixture) async throws -> Void) async throws {
        let files = ["etc/pipelined.conf": "[Inbox]\nPollInterval=1s\n[Daemon]\nRetries=0\n", "state/id": "test\n"]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "first.png")
            try await daemon.job("first.png", becomes: "queued")
            try folder(daemon.path("elsewhere"))
            try await body(daemon)
        }
    }

    @Test("the daemon does not use a folder that replaces .pipelined, and continues when the old folder is back")
    func swapped() async throws {
        try await Self.with { daemon in
            let (claims, away) = (daemon.path("inbox/.pipelined"), daemon.path("inbox/away"))
            try #require(rename(claims, away) == 0)
            try Self.folder("\(claims)/test")
            try #require(symlink(daemon.path("elsewhere"), "\(claims)/test/0") == 0)
            try daemon.write(Picture.small, to: "elsewhere/first.png")
            try daemon.drop(as: "second.png")
            try await daemon.says("it lies at \(away) now: mv it back to \(claims)")
            #expect(try daemon.status().inboxes.first?.problem?.contains("somebody has moved") == true)
            #expect(daemon.exists("inbox/second.png"))
            #expect(daemon.files(in: "elsewhere") == ["first.png"])

            try FileManager.default.removeItem(atPath: claims)
            try #require(rename(away, claims) == 0)
            _ = try daemon.call(Call.Resume())
            try await daemon.job("second.png", becomes: "done")
            try await daemon.job("first.png", becomes: "done")
            #expect(daemon.files(in: "elsewhere") == ["first.png"])
        }
    }

    @Test("a private picture behind a link below .pipelined is neither rendered nor moved")
    func linkedInside() async throws {
        try await Self.with { daemon in
            let claims = daemon.path("inbox/.pipelined/test")
            try #require(rename(claims, daemon.path("away")) == 0)
            try daemon.write(Picture.small, to: "elsewhere/0/first.png")
            try #require(symlink(daemon.path("elsewhere"), claims) == 0)
            _ = try daemon.call(Call.Resume())
            try await daemon.job("first.png", becomes: "failed")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            #expect(daemon.files(in: "outbox") == [])
            #expect(daemon.files(in: "elsewhere") == ["0/first.png"])

            // Put the daemon's own folder back, with the picture in it.
            try #require(unlink(claims) == 0 && rename(daemon.path("away"), claims) == 0)
            try await daemon.event { $0.text?.contains("its original could be moved now") == true }
            #expect(daemon.files(in: "failed").contains("noir/first.png"))
        }
    }

    @Test("a .pipelined that is removed is made again, and only the pictures in it are lost")
    func removed() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "first.png")
            try await daemon.waitForAll()
            try FileManager.default.removeItem(atPath: daemon.path("inbox/.pipelined"))
            try daemon.drop(as: "second.png")
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done"])

            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "lost.png")
            try await daemon.job("lost.png", becomes: "queued")
            try FileManager.default.removeItem(atPath: daemon.path("inbox/.pipelined"))
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            try daemon.drop(as: "next.png")
            try await daemon.waitForAll()
            #expect(daemon.files(in: "archive") == ["first.png", "next.png", "second.png"].map { "noir/\($0)" })
            #expect(daemon.files(in: "inbox") == [])
            try await daemon.says("job 3: its original is gone")
        }
    }

    @Test(
        "a .pipelined that belongs to another user is refused with the reason, and the inbox works once it is gone",
        .enabled(if: Nobody.canOwnFiles, "only root can give a folder to somebody else"))
    func planted() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nPollInterval=1s\n"], started: false) { daemon in
            let claims = daemon.path("inbox/.pipelined")
            try Self.folder(claims)
            try #require(chown(claims, Nobody.number, Nobody.number) == 0)
            try await daemon.start()
            try await daemon.says("\(claims) belongs to user nobody, not to root")
            try daemon.drop(as: "a.png")
            #expect(rmdir(claims) == 0)
            try await daemon.job("a.png", becomes: "done")
        }
    }

    @Test(
        "an inbox that is another user's link is not followed, but the daemon user's own link is",
        .enabled(if: Nobody.canOwnFiles, "only root can give a link to somebody else"))
    func linkedInbox() async throws {
        let files = Dictionary(
            uniqueKeysWithValues: ["ours", "theirs"].map {
                ("etc/recipes.d/\($0).recipe", "[Recipe]\nInbox=\($0)\n[Output]\nChain=save\n")
            })
        try await DaemonFixture.with(files, started: false) { daemon in
            try Self.folder(daemon.path("inbox"))
            for name in ["ours", "theirs"] {
                try daemon.write(Picture.small, to: "elsewhere/\(name)/a.png")
                try #require(symlink(daemon.path("elsewhere/\(name)"), daemon.path("inbox/\(name)")) == 0)
            }
            try #require(lchown(daemon.path("inbox/theirs"), Nobody.number, Nobody.number) == 0)
            try await daemon.start()
            try await daemon.says("\(daemon.path("inbox/theirs")) is a link of user nobody's, which is not followed")
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["ours/a.jpg"])
            #expect(daemon.files(in: "elsewhere") == ["theirs/a.png"])
        }
    }

    @Test("in an inbox that the daemon makes, users can't rename or remove each other's files")
    func sticky() async throws {
        let files = ["etc/recipes.d/deep.recipe": "[Recipe]\nInbox=deep/er\n[Output]\nChain=save\n"]
        try await DaemonFixture.with(files) { daemon in
            for folder in ["inbox/deep", "inbox/deep/er"] {
                var status = stat()
                #expect(stat(daemon.path(folder), &status) == 0 && status.st_mode & S_ISVTX != 0, "\(folder)")
            }
            var status = stat()
            #expect(stat(daemon.path("inbox/.pipelined"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        }
    }

    @Test("files behind a link in the place of .staging are not swept")
    func linkedStaging() async throws {
        try await DaemonFixture.with(["state/id": "test\n"], started: false) { daemon in
            try daemon.write(Picture.small, to: "elsewhere/test/mine.png")
            try Self.folder(daemon.path("outbox/noir"))
            try #require(symlink(daemon.path("elsewhere"), daemon.path("outbox/noir/.staging")) == 0)
            try await daemon.start()
            try await daemon.says("/.staging/test can't be swept")
            #expect(daemon.files(in: "elsewhere") == ["test/mine.png"])
        }
    }

    @Test("two roots with one inbox leave each other's claims alone, even after a restart")
    func twoRoots() async throws {
        try await DaemonFixture.with(started: false) { first in
            let recipe = "[Recipe]\nInbox=\(first.path("shared"))\n[Output]\nChain=save\n"
            try first.write(recipe, to: "etc/recipes.d/shared.recipe")
            try await first.start()
            _ = try first.call(Call.Pause(queue: "render"))
            for number in 1...5 { try first.drop(as: "\(number).png", inbox: "shared") }
            for number in 1...5 { try await first.job("\(number).png", becomes: "queued") }
            try await DaemonFixture.with(["etc/recipes.d/shared.recipe": recipe]) { second in
                try await second.says("5 files in .pipelined/")
                #expect(try second.list().isEmpty)
            }
            await first.stop()
            try await first.start()
            _ = try first.call(Call.Resume())
            try await first.waitForAll()
            #expect(try first.list().map(\.state) == Array(repeating: "done", count: 5))
        }
    }

    @Test("a file that an older version claimed without a job is taken in")
    func olderClaims() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try daemon.write(Picture.small, to: "inbox/.pipelined/0/album/a.png")
            try daemon.write(Picture.small, to: "inbox/.pipelined/1/album/a.png")
            try await daemon.start()
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/album/a-1.jpg", "noir/album/a.jpg"])
            #expect(!daemon.exists("inbox/.pipelined/0"))
        }
    }
}
