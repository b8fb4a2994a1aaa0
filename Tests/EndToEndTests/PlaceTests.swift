import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Inboxes and outboxes on disks that are mounted and unmounted")
struct PlaceTests {
    private static let recipe =
        "[Recipe]\nInbox=card\n[Inbox]\nPollInterval=1s\n[Output]\nChain=resize scale=0.5\n"

    @Test(
        "an unmounted inbox waits with that reason, others go on, and it resumes when it is mounted again",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func inboxUnmounted() async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe, "inbox/card/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            let card = daemon.path("inbox/card")
            let store = daemon.path("store")
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
            // The card is a mount of its own. Its files still exist after it is unmounted.
            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            defer { while umount2(card, Int32(MNT_DETACH)) == 0 {} }
            try await daemon.start()
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "done")

            try #require(umount2(card, Int32(MNT_DETACH)) == 0)
            try await daemon.says("its file system is not mounted any more")
            #expect(try daemon.status().inboxes.first { $0.recipe == "card" }?.problem?.contains("not mounted") == true)
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            try daemon.write(Picture.small, to: "store/second.png")
            try daemon.write(Picture.small, to: "inbox/card/covered.png")

            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.job("second.png", becomes: "done")
            try await daemon.says("inbox \(card): is there again")
            #expect(try daemon.status().inboxes.first { $0.recipe == "card" }?.problem == nil)

            // Mount another file system over the card, so that the inbox now contains the files of that file system.
            let other = daemon.path("other")
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            try Picture.small.write(to: URL(fileURLWithPath: other + "/third.png"))
            try #require(mount(other, card, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.job("third.png", becomes: "done")
            try daemon.drop(as: "fourth.png", inbox: "inbox/card")
            try await daemon.job("fourth.png", becomes: "done")
        }
    }

    @Test(
        "a queued job waits for its unmounted inbox or outbox, nothing is written in its place, and it resumes later",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"), arguments: ["inbox/card", "outbox/card"])
    func queuedWaits(place: String) async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe]
        try await DaemonFixture.with(files, started: false) { daemon in
            let (folder, store) = (daemon.path(place), daemon.path("store"))
            for folder in [folder, store] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try #require(mount(store, folder, nil, UInt(MS_BIND), nil) == 0)
            defer { while umount2(folder, Int32(MNT_DETACH)) == 0 {} }
            try await daemon.start()
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "done")
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "second.png", inbox: "inbox/card")
            let id = try await daemon.job("second.png", becomes: "queued")

            try #require(umount2(folder, Int32(MNT_DETACH)) == 0)
            try await daemon.job("second.png", becomes: "waiting")
            _ = try daemon.call(Call.Resume())
            let shown = try daemon.call(Call.Show(id: id)).story.job
            #expect(shown.state == "waiting" && shown.reason == "\(folder) is not mounted any more")
            #expect(try daemon.status().problems.contains { $0.contains("goes on when it is mounted") })
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            #expect(daemon.files(in: place) == [])

            try #require(mount(store, folder, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.job("second.png", becomes: "done")
            #expect(daemon.files(in: "outbox/card") == ["first.jpg", "second.jpg"])
        }
    }

    /// Runs `body` with a daemon whose first job has ended. The job's original can't be moved out of the card's inbox
    /// yet.
    private static func withUndisposed(
        _ picture: Data, _ body: (_ daemon: DaemonFixture, _ card: String, _ store: String) async throws -> Void
    ) async throws {
        let files = ["etc/recipes.d/card.recipe": recipe, "state/id": "test\n", "inbox/card/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            let (card, store) = (daemon.path("inbox/card"), daemon.path("store"))
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            defer { while umount2(card, Int32(MNT_DETACH)) == 0 {} }
            for folder in ["archive", "failed"] { try daemon.write("in the way", to: "\(folder)/card") }
            try await daemon.start()
            try daemon.drop(picture, as: "one.png", inbox: "inbox/card")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            try await body(daemon, card, store)
        }
    }

    private static func unblock(_ daemon: DaemonFixture) throws {
        for folder in ["archive", "failed"] {
            try FileManager.default.removeItem(atPath: daemon.path("\(folder)/card"))
        }
    }

    @Test(
        "an original in an unmounted inbox does not count as gone, and is moved when the inbox is mounted again",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"), arguments: [false, true])
    func endedWhileUnmounted(coversClaims: Bool) async throws {
        try await Self.withUndisposed(Picture.small) { daemon, card, store in
            try #require(umount2(card, Int32(MNT_DETACH)) == 0)
            try await daemon.says("its file system is not mounted any more")
            // The daemon would have created this folder if it had started before the card was mounted.
            if coversClaims { try daemon.write("", to: "inbox/card/.pipelined/test/.keep") }
            try Self.unblock(daemon)
            try await daemon.logged { $0.contains("is gone") || $0.contains("No such device") }
            #expect(!daemon.log.contains("is gone"))
            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.waitForAll()
            #expect(daemon.files(in: "archive") == ["card/one.png"])
        }
    }

    @Test(
        "an original that a start before the mount took for gone is moved by the next start, and not processed again",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"), arguments: ["done", "failed"])
    func startedBeforeMount(state: String) async throws {
        try await Self.withUndisposed(state == "done" ? Picture.small : Data("none".utf8)) { daemon, card, store in
            await daemon.stop()
            try #require(umount2(card, Int32(MNT_DETACH)) == 0)
            try Self.unblock(daemon)
            try await daemon.start()
            try await daemon.says("is gone")
            await daemon.stop()
            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == [state])
            #expect(daemon.files(in: state == "done" ? "archive" : "failed").contains("card/one.png"))
            #expect(daemon.files(in: "outbox") == (state == "done" ? ["card/one.jpg"] : []))
            #expect(daemon.files(in: "store") == [])
        }
    }

    @Test("an inbox that is removed is made again and watched")
    func inboxRemoved() async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "done")
            try FileManager.default.moveItem(atPath: daemon.path("inbox/card"), toPath: daemon.path("gone"))
            try await daemon.says("is there again")
            try daemon.drop(as: "second.png", inbox: "inbox/card")
            try await daemon.job("second.png", becomes: "done")
            #expect(daemon.files(in: "outbox") == ["card/first.jpg", "card/second.jpg"])
        }
    }

    @Test(
        "an outbox that does not answer holds only its own recipe, with the reason, and recovers by itself",
        .enabled(if: Mount.isPermitted && mayFreeze, "only root may freeze a file system, with a loop device"))
    func outboxHangs() async throws {
        let files = [
            "etc/recipes.d/card.recipe": Self.recipe,
            "etc/pipelined.conf": "[Daemon]\nHangTimeout=1s\n[Queues]\nRender=1\nPublish=1\n",
        ]
        try await withDisk("outbox/card", files) { daemon, folder, freeze in
            try await freeze {
                try daemon.drop(as: "stuck.png", inbox: "inbox/card")
                let event = try await daemon.event { $0.job?.input == "stuck.png" && $0.job?.state == "waiting" }
                #expect(event.job?.reason == "\(folder) does not answer")
                try daemon.drop(as: "beside.png")
                try await daemon.job("beside.png", becomes: "done")
                #expect(try daemon.status().problems.contains { $0.contains("goes on when it answers") })
            }
            try await daemon.job("stuck.png", becomes: "done")
            try daemon.drop(as: "next.png", inbox: "inbox/card")
            try await daemon.job("next.png", becomes: "done")
            await daemon.stop()
            #expect(daemon.files(in: "outbox/card").filter { $0.hasSuffix(".jpg") } == ["next.jpg", "stuck.jpg"])
        }
    }

    @Test(
        "an inbox that does not answer holds only its own originals, which are moved when it answers",
        .enabled(if: Mount.isPermitted && mayFreeze, "only root may freeze a file system, with a loop device"))
    func inboxHangs() async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe]
        try await withDisk("inbox/card", files) { daemon, _, freeze in
            _ = try daemon.call(Call.Pause(queue: "publish"))
            try daemon.write(Picture.small, to: "inbox/card/stuck.png")
            try await daemon.event { $0.job?.input == "stuck.png" && $0.job?.state == "waiting" }
            try await freeze {
                _ = try daemon.call(Call.Resume())
                try await daemon.job("stuck.png", becomes: "done")
                try daemon.drop(as: "beside.png")
                try await daemon.job("beside.png", becomes: "done")
                try await daemon.has("archive/noir/beside.png")
                #expect(daemon.files(in: "inbox/card").contains { $0.hasSuffix("/stuck.png") })
            }
            await daemon.stop()
            #expect(!daemon.files(in: "inbox/card").contains { $0.hasSuffix("/stuck.png") })
            #expect(daemon.files(in: "archive/card") == ["stuck.png"])
        }
    }

    @Test(
        "an outbox that hangs while its jobs wait for room blocks one thread, however often it is checked",
        .enabled(if: Mount.isPermitted && mayFreeze, "only root may freeze a file system, with a loop device"))
    func fullOutboxHangs() async throws {
        let files = [
            "etc/recipes.d/card.recipe": Self.recipe, "etc/pipelined.conf": "[Daemon]\nFreeSpace=64K\n",
        ]
        try await withDisk("outbox/card", files) { daemon, folder, freeze in
            try Mount(folder: folder).fill()
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "waiting")
            try await freeze {
                // Whenever a mount changes, the daemon checks the free space and its folders.
                for _ in 1...10 {
                    try await Mount.with(daemon.path("elsewhere"), size: "64k") { _ in _ = try daemon.status() }
                    _ = try daemon.status()
                }
                let blocked = try daemon.blockedThreads
                #expect(blocked <= 1)
            }
            try Mount(folder: folder).free()
            try await daemon.job("first.png", becomes: "done")
        }
    }

    /// Runs `body` with a daemon that has a separate disk at `place`. While `freeze` runs its closure, the disk does
    /// not answer.
    private func withDisk(
        _ place: String, _ files: [String: String],
        _ body: (DaemonFixture, _ folder: String, _ freeze: (() async throws -> Void) async throws -> Void) async throws
            -> Void
    ) async throws {
        try await DaemonFixture.with(files, started: false) { daemon in
            let folder = daemon.path(place)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            func run(_ command: String) async throws {
                let outcome = try await Programs.run(path: "/bin/sh", ["-c", command, "sh", daemon.root.path, folder])
                try #require(outcome.status == 0, "\(outcome.errors)")
            }
            try await run(#"cd "$1" && truncate -s 16M disk && mkfs.ext4 -q disk && mount -o loop disk "$2""#)
            defer { umount2(folder, Int32(MNT_DETACH)) }
            try await daemon.start()
            try await body(daemon, folder) { body in
                try await run(#"fsfreeze -f "$2""#)
                do {
                    try await body()
                } catch {
                    try await run(#"fsfreeze -u "$2""#)
                    throw error
                }
                try await run(#"fsfreeze -u "$2""#)
            }
        }
    }
}

/// Whether this machine can freeze a file system.
private let mayFreeze = ["/usr/sbin/fsfreeze", "/usr/sbin/mkfs.ext4", "/dev/loop-control"]
    .allSatisfy(FileManager.default.fileExists)
