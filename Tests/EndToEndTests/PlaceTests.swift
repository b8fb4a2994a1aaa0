import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

/// Whether this process may mount file systems; a test that needs it is left out where it may not.
private let mayMount: Bool = {
    let folder = NSTemporaryDirectory() + "pipelined-mount-\(UUID().uuidString)"
    defer { rmdir(folder) }
    guard mkdir(folder, 0o755) == 0, mount("none", folder, "tmpfs", 0, nil) == 0 else { return false }
    return umount(folder) == 0
}()

@Suite("Inboxes and outboxes that come and go")
struct PlaceTests {
    private static let recipe =
        "[Recipe]\nInbox=card\n[Inbox]\nPollInterval=1s\n[Output]\nChain=resize scale=0.5\n"

    @Test(
        "an inbox that is unmounted waits with that reason, others go on, and it goes on when it is mounted again",
        .enabled(if: mayMount))
    func inboxUnmounted() async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe, "inbox/card/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            let card = daemon.path("inbox/card")
            let store = daemon.path("store")
            try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
            // The card is a mount of its own, whose files outlive the unmounting.
            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            defer { while umount2(card, Int32(MNT_DETACH)) == 0 {} }
            try await daemon.start()
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "done")

            try #require(umount2(card, Int32(MNT_DETACH)) == 0)
            try await daemon.says("is not mounted any more")
            #expect(try daemon.status().inboxes.first { $0.recipe == "card" }?.problem?.contains("not mounted") == true)
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            try daemon.write(Picture.small, to: "store/second.png")
            try daemon.write(Picture.small, to: "inbox/card/covered.png")

            try #require(mount(store, card, nil, UInt(MS_BIND), nil) == 0)
            try await daemon.job("second.png", becomes: "done")
            try await daemon.says("inbox \(card): is there again")
            #expect(try daemon.status().inboxes.first { $0.recipe == "card" }?.problem == nil)

            // Another one over it: what lies there now is the inbox.
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
        "what is queued waits while its inbox or outbox is not mounted, nothing is written in its place, and it goes on by itself",
        .enabled(if: mayMount), arguments: ["inbox/card", "outbox/card"])
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

    @Test("an inbox that is removed is made again, and taken from")
    func inboxRemoved() async throws {
        let files = ["etc/recipes.d/card.recipe": Self.recipe]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "first.png", inbox: "inbox/card")
            try await daemon.job("first.png", becomes: "done")
            try FileManager.default.moveItem(atPath: daemon.path("inbox/card"), toPath: daemon.path("gone"))
            try await daemon.says("is there again")
            try daemon.drop(as: "second.png", inbox: "inbox/card")
            try await daemon.job("second.png", becomes: "done")
        }
    }
}
