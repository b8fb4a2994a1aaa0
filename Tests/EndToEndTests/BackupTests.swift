import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A backup, restored onto an empty root")
struct BackupTests {
    private static let files = [
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n",
        "etc/recipes.d/noir.recipe": "[Recipe]\n[Output]\nChain=save format=jpeg\n",
        "etc/recipes.d/stay.recipe": "[Recipe]\nInbox=stay\nOriginal=keep\n[Output]\nChain=save format=jpeg\n",
    ]

    /// Leaves jobs that are done, have failed and are queued, and originals in every place.
    private func fill(_ daemon: DaemonFixture) async throws {
        try daemon.drop(as: "album/done.png")
        try daemon.drop(Data("no picture".utf8), as: "bad.png")
        try daemon.drop(as: "kept.png", inbox: "inbox/stay")
        try await daemon.waitForAll()
        _ = try daemon.call(Call.Pause(queue: "render"))
        try daemon.drop(as: "claimed.png")
        try await daemon.job("claimed.png", becomes: "queued")
        try daemon.write(Picture.small, to: "added.png")
        #expect(try await daemon.pipectl("add", daemon.path("added.png")).status == 0)
    }

    /// The state of what was restored agrees with its pictures, and all that waited is done.
    private func check(_ daemon: DaemonFixture) async throws {
        try await daemon.start()
        #expect(try daemon.status().problems == [])
        _ = try daemon.call(Call.Resume())
        try await daemon.waitForAll()
        let jobs = try daemon.list()
        #expect(
            jobs.map { "\($0.input) \($0.state)" }.sorted() == [
                "added.png done", "album/done.png done", "bad.png failed", "claimed.png done", "kept.png done",
            ])
        #expect(
            daemon.files(in: "outbox") == [
                "noir/added.jpg", "noir/album/done.jpg", "noir/claimed.jpg", "stay/kept.jpg",
            ])
        #expect(daemon.files(in: "archive") == ["noir/album/done.png", "noir/claimed.png"])
        #expect(daemon.files(in: "failed") == ["noir/bad.png", "noir/bad.png.error.txt"])
        #expect(daemon.files(in: "inbox") == ["stay/kept.png"] && daemon.files(in: "state/spool") == [])
        for job in jobs {
            let original = try daemon.call(Call.Show(id: job.id)).story.original
            #expect(original.map { $0.hasPrefix(daemon.root.path + "/") } ?? (job.input == "added.png"), "\(job.input)")
            #expect(job.outputs.allSatisfy { $0.hasPrefix(daemon.root.path + "/") })
        }
        // A failed picture can be mended and tried again, and what is kept is still known.
        try daemon.write(Picture.small, to: "failed/noir/bad.png")
        let failed = try #require(jobs.first { $0.state == "failed" })
        #expect(try daemon.call(Call.Retry(ids: [failed.id])).retried == [failed.id])
        try await daemon.waitForAll()
        #expect(daemon.exists("outbox/noir/bad.jpg") && daemon.files(in: "failed") == [])
        #expect(try daemon.call(Call.Clean(places: ["archive"])).cleaned.map(\.files) == [3])
        #expect(daemon.files(in: "archive") == [])
    }

    private func copy(_ from: String, _ to: String) async throws {
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let outcome = try await Programs.run(path: "/bin/cp", ["-a", from + "/.", to])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("taken while it was stopped, at the same place: everything goes on")
    func samePlace() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try await fill(daemon)
            await daemon.stop()
            let backup = daemon.root.path + "-backup"
            defer { try? FileManager.default.removeItem(atPath: backup) }
            try await copy(daemon.root.path, backup)
            try FileManager.default.removeItem(at: daemon.root)
            try await copy(backup, daemon.root.path)
            try await check(daemon)
        }
    }

    @Test("at another place, the ledger follows; the first daemon's files are left alone")
    func elsewhere() async throws {
        try await DaemonFixture.with(Self.files) { first in
            try await fill(first)
            await first.stop()
            let before = first.files(in: "")
            try await DaemonFixture.with(started: false) { second in
                try await copy(first.root.path, second.root.path)
                try await check(second)
                try await second.says("this folder was at \(first.root.path); the ledger has followed it")
            }
            #expect(first.files(in: "") == before)
        }
    }

    @Test("taken while it ran, in the order of the guide, with the ledger last")
    func running() async throws {
        try await DaemonFixture.with(Self.files) { first in
            try await fill(first)
            try await DaemonFixture.with(started: false) { second in
                for folder in ["etc", "inbox", "state/spool", "outbox", "archive", "failed", "cancelled"] {
                    try await copy(first.path(folder), second.path(folder))
                }
                let ledger = """
                    import sqlite3, sys
                    with sqlite3.connect(sys.argv[1]) as ledger, sqlite3.connect(sys.argv[2]) as copy: ledger.backup(copy)
                    """
                let outcome = try await Python.run(
                    ledger, first.path("state/ledger.sqlite"), second.path("state/ledger.sqlite"))
                try #require(outcome.status == 0, "\(outcome.errors)")
                for file in ["id", "place"] { try second.write(try first.data("state/\(file)"), to: "state/\(file)") }
                try await check(second)
            }
        }
    }
}
