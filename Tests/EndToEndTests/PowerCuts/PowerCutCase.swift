import Foundation
import PipelineControl
import TestTools
import Testing

/// A user's action. The power fails while the daemon performs it.
struct PowerCutCase: CustomTestStringConvertible, Sendable {
    typealias Act = @Sendable (DaemonFixture) async throws -> Void

    var testDescription: String
    var files: [String: String] = [:]
    /// Files in this inbox when the daemon starts, by path.
    var dropped: [String: Data] = [:]
    var inbox = "inbox"
    /// Runs before the recording, without a power cut.
    var before: Act?
    /// The user's command. Once it has returned without an error, its effect must last.
    var command: Act?
    /// Runs after the next start, in cases where the jobs need help to end.
    var afterwards: Act?
    /// Patterns of paths that must be synced. For each pattern, the test must find at least this number of syncs that
    /// do harm if they are left out.
    var needs: [String: Int] = [:]

    static let all = [
        dropped, twoResults, deleted, kept, replaced, failing, redo, undo, retry, cancel, pause, add, download,
    ]

    static let dropped = PowerCutCase(
        testDescription: "a picture is dropped", dropped: ["album/a.png": Picture.small],
        needs: [
            "/inbox/.pipelined/cut/0/album": 1, "/outbox/noir/.staging/cut/*.jpg": 1, "/state/*-wal": 1,
            "/outbox/noir/album": 1, "/archive/noir/album": 1,
        ])

    private static let two =
        "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.5 | save\n[Output small]\nChain=save format=png\n"
    private static let otherTwo =
        "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.25 | save\n[Output large]\nChain=save format=png\n"

    static let twoResults = PowerCutCase(
        testDescription: "two pictures with two results each", files: ["etc/recipes.d/two.recipe": two],
        dropped: ["a.png": Picture.small, "b.png": Picture.png(width: 16, height: 16)], inbox: "inbox/two",
        needs: [
            "/inbox/two/.pipelined/cut/0": 1, "/outbox/two/.staging/cut/*": 4,
            "/state/*-wal": 1, "/outbox/two": 1, "/archive/two": 1,
        ])

    static let deleted = PowerCutCase(
        testDescription: "the original is deleted",
        files: [
            "etc/recipes.d/once.recipe":
                "[Recipe]\nInbox=once\nOriginal=delete\nName={album}/{date:%Y}/{counter:3}-{hash:8}\n[Output]\nChain=save\n"
        ], dropped: ["album/a.png": Picture.small], inbox: "inbox/once",
        needs: ["/inbox/once/.pipelined/cut/0/album": 2])

    static let kept = PowerCutCase(
        testDescription: "the original is kept",
        files: ["etc/recipes.d/kept.recipe": "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=save\n"],
        dropped: ["album/a.png": Picture.small], inbox: "inbox/kept")

    static let replaced = PowerCutCase(
        testDescription: "an older result is replaced",
        files: [
            "etc/recipes.d/over.recipe": "[Recipe]\nInbox=over\nConflict=replace\n[Output]\nChain=save\n",
            "outbox/over/album/a.jpg": "an older one",
        ], dropped: ["album/a.png": Picture.small], inbox: "inbox/over")

    static let failing = PowerCutCase(
        testDescription: "a picture fails", dropped: ["album/a.png": Data("no picture".utf8)])

    private static func done(as recipe: String) -> Act {
        { daemon in
            try daemon.drop(as: "album/a.png", inbox: "inbox/two")
            try await daemon.waitForAll()
            try daemon.write(recipe, to: "etc/recipes.d/two.recipe")
        }
    }

    private static func pipectl(_ words: String...) -> Act {
        { daemon in
            let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path] + words)
            try #require(outcome.status == 0, "\(outcome)")
        }
    }

    static let redo = PowerCutCase(
        testDescription: "a redo under another recipe", files: ["etc/recipes.d/two.recipe": two],
        before: done(as: otherTwo), command: pipectl("redo", "1"),
        needs: [
            "/outbox/two/.staging/cut/*": 2, "/outbox/two/.staging/cut": 1,
            "/outbox/two/album": 1, "/archive/two/album": 1, "/state/*-wal": 1,
        ])

    static let undo = PowerCutCase(
        testDescription: "an undo", files: ["etc/recipes.d/two.recipe": two],
        before: { daemon in
            try await done(as: two)(daemon)
            // This second picture keeps the folders of the first in use.
            try daemon.drop(Picture.png(width: 16, height: 16), as: "album/b.png", inbox: "inbox/two")
            try await daemon.waitForAll()
        },
        command: pipectl("undo", "1"),
        needs: ["/outbox/two/.staging/cut": 1, "/cancelled/two/album": 1, "/state/*-wal": 1])

    private static let waiting: Act = { daemon in
        _ = try daemon.call(Call.Pause(queue: "render"))
        try daemon.drop(as: "album/a.png")
        try await daemon.job("album/a.png", becomes: "queued")
    }

    static let retry = PowerCutCase(
        testDescription: "a retry",
        before: { daemon in
            try await waiting(daemon)
            try await pipectl("cancel", "1")(daemon)
            try await pipectl("resume", "render")(daemon)
        }, command: pipectl("retry", "1"),
        needs: ["/inbox/.pipelined/cut/0/album": 1, "/state/*-wal": 1])

    static let cancel = PowerCutCase(
        testDescription: "a cancel", before: waiting, command: pipectl("cancel", "1"),
        afterwards: pipectl("resume", "render"),
        needs: ["/cancelled/noir/album": 1, "/state/*-wal": 1])

    static let pause = PowerCutCase(
        testDescription: "a pause", command: pipectl("pause", "render"),
        afterwards: { daemon in
            // This picture's name shows whether the pause was kept.
            let isPaused = try daemon.status().queues["render"]?.paused == true
            try daemon.drop(as: isPaused ? "paused.png" : "not paused.png")
            _ = try daemon.call(Call.Resume(queue: "render"))
        })

    static let add = PowerCutCase(
        testDescription: "an added picture",
        before: { daemon in try daemon.write(Picture.small, to: "mine/added.png") },
        command: { try await pipectl("add", $0.path("mine/added.png"))($0) },
        needs: [
            "/state/spool/*.part/*": 1, "/state/spool": 1, "/outbox/noir/.staging/cut/*.jpg": 1, "/outbox/noir": 1,
        ])

    private static let server = try? HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }

    static let download = PowerCutCase(
        testDescription: "a list of URLs is dropped",
        files: ["etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Download]\nAllowPrivateHosts=127.0.0.1\nRetries=0\n"],
        dropped: ["some.urls": Data("\(server?.url("/a.png") ?? "")\n\(server?.url("/b.png") ?? "")\n".utf8)],
        needs: [
            "/inbox/.pipelined/cut/0": 1, "/archive/noir": 1, "/state/spool/*": 2, "/state/spool/*/download": 2,
            "/outbox/noir/.staging/cut/*.jpg": 2, "/outbox/noir": 1,
        ])
}
