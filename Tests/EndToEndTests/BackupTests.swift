import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("A backup, restored onto an empty root")
struct BackupTests {
    private static let files = [
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n",
        "etc/recipes.d/noir.recipe": "[Recipe]\n[Output]\nChain=save format=jpeg\n",
        "etc/recipes.d/stay.recipe": "[Recipe]\nInbox=stay\nOriginal=keep\n[Output]\nChain=save format=jpeg\n",
    ]

    /// Creates done, failed and queued jobs, and puts an original into every folder that can hold originals.
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

    /// Checks that the restored state agrees with its pictures, and that all waiting jobs become done.
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
        #expect(daemon.files(in: "archive") == ["noir/added.png", "noir/album/done.png", "noir/claimed.png"])
        #expect(daemon.files(in: "failed") == ["noir/bad.png", "noir/bad.png.error.txt"])
        #expect(daemon.files(in: "inbox") == ["stay/kept.png"] && daemon.files(in: "state/spool") == [])
        for job in jobs {
            let original = try daemon.call(Call.Show(id: job.id)).story.original
            #expect(original?.hasPrefix(daemon.root.path + "/") == true, "\(job.input)")
            #expect(job.outputs.allSatisfy { $0.hasPrefix(daemon.root.path + "/") })
        }
        // A failed picture can be repaired and retried, and the ledger still lists the kept files.
        try daemon.write(Picture.small, to: "failed/noir/bad.png")
        let failed = try #require(jobs.first { $0.state == "failed" })
        #expect(try daemon.call(Call.Retry(ids: [failed.id])).retried == [failed.id])
        try await daemon.waitForAll()
        #expect(daemon.exists("outbox/noir/bad.jpg") && daemon.files(in: "failed") == [])
        #expect(try daemon.call(Call.Clean(places: ["archive"])).cleaned.map(\.files) == [4])
        #expect(daemon.files(in: "archive") == [])
    }

    /// Runs `body` with the path of a backup folder that does not exist yet.
    private func withBackup(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in try await body("\(folder)/backup") }
    }

    @discardableResult
    private func backUp(_ daemon: DaemonFixture, into folder: String) async throws -> BackupReport {
        let outcome = try await daemon.pipectl("--json", "backup", folder)
        try #require(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        return try JSONDecoder().decode(BackupReport.self, from: Data(outcome.output.utf8))
    }

    /// Copies the backup in `folder` to the root of `daemon`, which has not been started. Another daemon, whose root
    /// was `former`, made the backup.
    private func restore(_ folder: String, of former: String, to daemon: DaemonFixture) async throws {
        try await copy(folder + former, daemon.root.path)
    }

    private func copy(_ from: String, _ to: String) async throws {
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let outcome = try await Programs.run(path: "/bin/cp", ["-a", from + "/.", to])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    private func isComplete(_ folder: String) throws -> Bool {
        struct Note: Decodable { var complete: Bool }
        let note = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/pipelined-backup.json"))
        return try JSONDecoder().decode(Note.self, from: note).complete
    }

    @Test("a backup of a stopped daemon is restored at the same place, and everything continues")
    func samePlace() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try await fill(daemon)
            await daemon.stop()
            try await withBackup { backup in
                let report = try await backUp(daemon, into: backup)
                #expect(report.jobs == 5 && report.elsewhere == [])
                #expect(try isComplete(backup))
                try FileManager.default.removeItem(at: daemon.root)
                try await restore(backup, of: daemon.root.path, to: daemon)
                try await check(daemon)
            }
        }
    }

    @Test("a backup is restored at another place: the ledger follows, and the first daemon's files are left alone")
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

    @Test("links are backed up as links, and copied again when their targets change")
    func links() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let link = daemon.path("archive/latest.png")
            try await withBackup { backup in
                for aim in ["noir/album/done.png", "/nowhere", "/nowhere"] {
                    try? FileManager.default.removeItem(atPath: link)
                    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: aim)
                    try await backUp(daemon, into: backup)
                    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: backup + link) == aim)
                }
            }
        }
    }

    @Test("a second backup of a running daemon copies only the changes")
    func running() async throws {
        try await DaemonFixture.with(Self.files) { first in
            try await fill(first)
            try first.write("old", to: "outbox/noir/old.txt")
            try await withBackup { backup in
                let all = try await backUp(first, into: backup)
                #expect(all.copied == all.all && all.removed == 0)
                try FileManager.default.removeItem(atPath: first.path("outbox/noir/old.txt"))
                try first.write("new", to: "outbox/noir/new.txt")
                let changed = try await backUp(first, into: backup)
                #expect(changed.copied == .init(files: 1, bytes: 3) && changed.removed == 1)
                #expect(changed.all == all.all)
                try FileManager.default.removeItem(atPath: first.path("outbox/noir/new.txt"))
                let removed = try await backUp(first, into: backup)
                #expect(removed.copied.files == 0 && removed.removed == 1)
                try await DaemonFixture.with(started: false) { second in
                    try await restore(backup, of: first.root.path, to: second)
                    try await check(second)
                }
            }
        }
    }

    @Test("a backup during intake and processing has every picture, and an original for each job")
    func underLoad() async throws {
        try await DaemonFixture.with(Self.files) { first in
            try await withBackup { backup in
                var dropped: [String] = []
                for _ in 1...3 {
                    for _ in 0..<40 {
                        dropped.append("\(dropped.count).png")
                        try first.drop(as: dropped[dropped.count - 1])
                    }
                    let target = first.root.path
                    let more = Task.detached {
                        var count = 0
                        while !Task.isCancelled, count < 300 {
                            let path = "\(target)/inbox/more-\(UUID().uuidString).png"
                            try Picture.small.write(to: URL(fileURLWithPath: path), options: .atomic)
                            count += 1
                            await Look.again()
                        }
                    }
                    try await backUp(first, into: backup)
                    more.cancel()
                    try await more.value
                }
                try await DaemonFixture.with(started: false) { second in
                    try await restore(backup, of: first.root.path, to: second)
                    try await second.start()
                    try await second.waitForAll()
                    #expect(try second.status().problems == [])
                    #expect(try second.list(["failed", "cancelled"]).map(\.input) == [])
                    let (archive, outbox) = (Set(second.files(in: "archive")), Set(second.files(in: "outbox")))
                    for name in dropped {
                        #expect(archive.contains("noir/\(name)"), "\(name)")
                        #expect(outbox.contains("noir/\(name.dropLast(4)).jpg"), "\(name)")
                    }
                }
            }
        }
    }

    @Test("a backup that is killed at any of its files is marked incomplete, and the next backup completes it")
    func killed() async throws {
        try await DaemonFixture.with(Self.files) { first in
            try await fill(first)
            try await withBackup { backup in
                var kills = 0
                for number in 2...200 {
                    let words =
                        try FileCalls.wrapper([.kill("renameat", number)])
                        + [Programs.path("pipelined"), "--root", first.root.path, "--backup", backup]
                    let outcome = try await Programs.run(path: words[0], Array(words.dropFirst()))
                    if outcome.status == 0 { break }
                    #expect(outcome.status == -SIGKILL, "\(outcome)")
                    #expect(try !isComplete(backup))
                    kills += 1
                }
                #expect(kills > 3)
                #expect(try isComplete(backup))
                let again = try await backUp(first, into: backup)
                #expect(again.copied.files == 0 && again.removed == 0)
                try await DaemonFixture.with(started: false) { second in
                    try await restore(backup, of: first.root.path, to: second)
                    #expect(!second.files(in: "").contains { $0.hasSuffix(".part") || $0.hasSuffix(".new") })
                    try await check(second)
                }
            }
        }
    }

    @Test(
        "owners, modes and times are kept, even when nothing else has changed",
        .enabled(if: Nobody.canOwnFiles, "for root"))
    func marks() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try daemon.write("secret", to: "etc/photos.password")
            let file = daemon.path("etc/photos.password")
            try await withBackup { backup in
                for mode in [0o640, 0o600] as [UInt32] {
                    #expect(chmod(file, mode) == 0 && chown(file, Nobody.number, Nobody.number) == 0)
                    let report = try await backUp(daemon, into: backup)
                    #expect(report.copied.files == (mode == 0o640 ? 1 : 0))
                    let (one, other) = (try FileSystem.status(file), try FileSystem.status(backup + file))
                    #expect(one?.owner == other?.owner && one?.group == other?.group && one?.mode == other?.mode)
                    #expect(one?.modified == other?.modified)
                }
            }
        }
    }

    // MARK: - Refused

    @Test("an unsuitable folder is refused with the reason, and nothing is written")
    func refused() async throws {
        let recipe = "[Recipe]\nInbox=/tmp/pipelined-far/inbox\n[Output]\nChain=save\n"
        try await DaemonFixture.with(["etc/recipes.d/far.recipe": recipe], started: false) { daemon in
            try daemon.write("there", to: "inbox/there.txt")
            try await withBackup { backup in
                let above = FileSystem.folder(of: backup)
                try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(above)/mine.txt"))
                for (folder, reason) in [
                    (daemon.path("inbox/backup"), "where the daemon works"),
                    (daemon.root.path, "where the daemon works"),
                    ("/tmp/pipelined-far/inbox/backup", "where the daemon works"),
                    (above, "neither empty nor a backup"), ("\(above)/mine.txt", "is not a folder"),
                    ("/proc/backup", "mkdir"),
                ] {
                    let outcome = try await daemon.pipectl("backup", folder)
                    #expect(outcome.status == 1 && outcome.errors.contains(reason), "\(outcome)")
                    #expect(outcome.errors.hasPrefix("pipectl: "))
                }
                #expect(daemon.files(in: "inbox") == ["there.txt"])
                #expect(try await daemon.pipectl("backup").status == 2)

                try await backUp(daemon, into: backup)
                try await DaemonFixture.with(started: false) { other in
                    let outcome = try await other.pipectl("--json", "backup", backup)
                    #expect(outcome.status == 1 && outcome.errors.contains("is a backup of \(daemon.root.path)"))
                    #expect(outcome.errors.hasPrefix("{") && outcome.errors.contains("\"error\":\"Refused\""))
                }
                let nowhere = try await Programs.run(
                    "pipectl", ["--root", "/tmp/pipelined-none", "backup", backup + "2"])
                #expect(nowhere.status == 1 && nowhere.errors.contains("no pipelined has run there yet"))
                let socket = try await Programs.run("pipectl", ["--socket", "/tmp/s", "backup", backup])
                #expect(socket.status == 2 && socket.errors.contains("use --root DIR or --instance NAME"))
            }
        }
    }

    @Test(
        "a user who may not read everything is told so", .enabled(if: Nobody.canOwnFiles, "only root is another user"))
    func noRight() async throws {
        try await DaemonFixture.with { daemon in
            let outcome = try await Programs.run(
                path: Nobody.wrapper[0],
                Nobody.wrapper.dropFirst() + [
                    Programs.path("pipelined"), "--root", daemon.root.path, "--backup", "/tmp/pipelined-nobody",
                ])
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.contains("may not read \(daemon.path("state")); run it as root"), "\(outcome)")
        }
    }

    @Test(
        "a lack of room is reported before anything is copied",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func noRoom() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Data(count: 3_000_000), to: "archive/large.bin")
            try await withBackup { backup in
                try await Mount.with(backup, size: "2m") { _ in
                    let outcome = try await daemon.pipectl("--json", "backup", backup)
                    #expect(outcome.status == 1 && outcome.errors.contains("\"error\":\"NoRoom\""), "\(outcome)")
                    #expect(try FileManager.default.contentsOfDirectory(atPath: backup) == [])
                }
            }
        }
    }

    @Test("a file that can't be copied, or a damaged or lost ledger, makes the backup incomplete")
    func incomplete() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            await daemon.stop()
            try await withBackup { backup in
                // This file's name is in Latin-1, so it is not valid UTF-8.
                let odd = "import os, sys; open(os.fsencode(sys.argv[1]) + b'/caf\\xe9', 'w')"
                try #require(try await Python.run(odd, daemon.path("inbox")).status == 0)
                let incomplete = try await daemon.pipectl("backup", backup)
                #expect(incomplete.status == 1 && incomplete.errors.contains("not UTF-8; rename it"), "\(incomplete)")
                #expect(try !isComplete(backup))
                _ = try await Programs.run(path: "/bin/sh", ["-c", "rm \(daemon.path("inbox"))/caf*"])

                // After this checkpoint the ledger's file contains all rows. Before it, some may be only in the
                // write-ahead log.
                try await daemon.ledger("PRAGMA wal_checkpoint(TRUNCATE)")
                var ledger = try daemon.data("state/ledger.sqlite")
                let whole = ledger
                ledger.replaceSubrange(4096..<8192, with: Data(repeating: 7, count: 4096))
                try daemon.write(ledger, to: "state/ledger.sqlite")
                let damaged = try await daemon.pipectl("backup", backup)
                #expect(damaged.status == 1 && damaged.errors.contains("the ledger: "), "\(damaged)")
                #expect(try !isComplete(backup))

                try daemon.write("", to: "state/ledger.sqlite")
                let lost = try await daemon.pipectl("backup", backup)
                #expect(lost.status == 1 && lost.errors.contains("is missing or empty"), "\(lost)")

                try daemon.write(whole, to: "state/ledger.sqlite")
                try await backUp(daemon, into: backup)
                #expect(try isComplete(backup))
            }
        }
    }
}

/// The output of `pipectl backup --json`.
private struct BackupReport: Decodable {
    struct Amount: Decodable, Equatable {
        var files: Int
        var bytes: Int
    }

    var all: Amount
    var copied: Amount
    var removed: Int
    var jobs: Int
    var elsewhere: [String]
}
