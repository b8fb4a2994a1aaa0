import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

/// A call that is refused on matching paths. In the pattern `glob`, `#` stands for the picture's folder, and `@` for a
/// job's number.
private struct Fault: Sendable {
    var call: String
    var glob: String

    static func on(_ glob: String, _ calls: String...) -> [Fault] { calls.map { Fault(call: $0, glob: glob) } }

    /// The calls for one picture while it is claimed, rendered, published and disposed of.
    static let ofPictures =
        on("/inbox/all/#*", "getattr", "open", "opendir", "readdir", "rename", "renamed", "access")
        + on("/inbox/all/.pipelined/*/#*", "getattr", "open", "read", "rename", "renamed", "mkdir", "rmdir", "unlink")
        + on("/outbox/all/.staging/*/@-*", "create", "getattr", "open", "read", "write", "fsync", "rename", "unlink")
        + on("/outbox/all/.staging/*/@-*", "renamed", "flush")
        + on("/outbox/all/#*", "mkdir", "getattr", "opendir", "fsyncdir", "rename", "unlink", "access")
        + on("/archive/all/#*", "mkdir", "getattr", "opendir", "fsyncdir", "rename", "access")
        + on("/archive/all/#*", "create", "open", "read", "write", "fsync", "utimens", "unlink", "flush")

    /// The calls on folders that many pictures share. Each of these faults gets its own recipe.
    static let ofFolders =
        on("/inbox/#", "getattr", "opendir", "readdir", "statfs", "access")
        + on("/inbox/#/.pipelined*", "opendir", "mkdir")
        + on("/outbox/#", "mkdir", "getattr", "opendir", "fsyncdir") + on("/outbox/#/.staging*", "mkdir", "opendir")

    /// The failing calls of each kind: the first, the second, or the first two. A whole sweep adds later and longer
    /// faults.
    static let times: [(first: Int, count: Int)] =
        [(1, 1), (2, 1), (1, 2)] + Sweep.of([], all: [(1, 4), (2, 3), (3, 2), (4, 4)])

    static func folder(_ number: Int) -> String { "p\(number + 1000)" }

    func pattern(_ number: Int) -> String {
        glob.replacingOccurrences(of: "#", with: Self.folder(number)).replacingOccurrences(of: "@", with: "\(number)")
    }
}

/// The kind of disk that the folders lie on.
enum DiskKind: String, CaseIterable, Sendable {
    case one = "one file system"
    /// The archive lies on another file system, so originals are copied.
    case across = "the archive is another"
    /// Inode numbers depend on the paths, so they change with each rename.
    case poor = "one file system without renames that replace nothing, and without hard links"
    /// The daemon is killed while calls are being refused.
    case killed = "one file system, and a kill"
}

@Suite("Disks that answer errors", .enabled(if: FaultyDisk.isPermitted, FaultyDisk.absence))
struct FaultyDiskTests {
    @Test(
        "after EIO or ESTALE on any call each picture is done once, and no message blames rights or damage"
    )
    func sweep() async throws {
        // The kinds run concurrently, because each of them mostly waits for retries.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in DiskKind.allCases { group.addTask { try await Self.sweep(kind) } }
            try await group.waitForAll()
        }
    }

    @Test("the faulty disk rejects a fault that it has no room for or does not know, so that the test fails")
    func tooMany() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await FaultyDisk.with(daemon.path("disk")) { disk in
                for _ in 1...1024 { try disk.refuse("open", "/nothing") }
                #expect(throws: Missing.self) { try disk.refuse("open", "/nothing") }
                #expect(throws: Missing.self) { try disk.lack("sense") }
            }
        }
    }

    private static func sweep(_ kind: DiskKind) async throws {
        let cases = Fault.ofPictures.flatMap { fault in Fault.times.map { (fault, $0) } }
        let names = cases.indices.map { Fault.folder($0 + 1) }
        let recipes = Fault.ofFolders.indices.map { Fault.folder($0 + 1 + cases.count) }
        try await withDisk(["all"] + recipes, across: kind == .across) { daemon, disk in
            if kind == .poor { try disk.lack("noreplace", "link", "inodes") }
            for (index, fault) in Fault.ofFolders.enumerated() {
                try disk.refuse(fault.call, fault.pattern(index + 1 + cases.count), times: 3)
            }
            for (index, (fault, times)) in cases.enumerated() {
                let errors = times.first % 2 == 0 ? [ESTALE] : [EIO, ESTALE]
                try disk.refuse(fault.call, fault.pattern(index + 1), from: times.first, times: times.count, errors)
            }
            for name in names { try disk.put(as: "inbox/all/\(name)/x.png") }
            for recipe in recipes { try disk.put(as: "inbox/\(recipe)/x.png") }
            try await daemon.start()
            if kind == .killed {
                while try disk.refused < 2 * Fault.ofPictures.count { await Look.again() }
                await daemon.stop(SIGKILL)
                try await daemon.start()
            }
            let pictures = (names.map { "all/\($0)/x" } + recipes.map { "\($0)/x" }).sorted()
            try await settle(daemon, disk, pictures.count)
            #expect(daemon.log.matches(of: /can't be read by|damaged|incomplete|mode is|Permission/).isEmpty, "\(kind)")
            await daemon.stop()
            try disk.clear()
            let results = pictures.flatMap { ["\($0).jpg", "\($0).small.jpg"] }.sorted()
            #expect(disk.files(in: "outbox") == results, "\(kind)")
            #expect(disk.files(in: "archive") == pictures.map { "\($0).png" }, "\(kind)")
            #expect(disk.files(in: "inbox") + disk.files(in: "failed") == [], "\(kind)")
            let jobs = try await Accounts(daemon).jobs
            #expect(jobs.count == pictures.count && jobs.allSatisfy { $0.contains(" done 1 ") }, "\(kind)")
            #expect(jobs.flatMap { $0.split(separator: " ").filter { $0.hasPrefix("outbox/") } }.count == results.count)
        }
    }

    @Test(
        "a picture that can't be read is read again, and never reported as damaged or truncated, whatever its format"
    )
    func reading() async throws {
        let formats = ["jpg", "png", "webp", "tif", "gif", "avif"]
        let reads = Sweep.of([0, 1, 2, 3, 6], all: Array(0...16))
        try await Self.withDisk(
            ["all"], chain: "OnTruncated=accept\n[Output]\nChain=resize scale=0.5 | save format=png\n"
        ) {
            daemon, disk in
            let made = try await Programs.run(path: "/bin/sh", ["-c", Self.makeFormats, "sh", daemon.path("run")])
            try #require(made.status == 0, "\(made.errors)")
            for format in formats {
                let picture = try daemon.data("run/s.\(format)")
                for read in reads {
                    if read > 0 { try disk.refuse("read", "*/.pipelined/*/\(format)-\(read)*", from: read, times: 1) }
                    try disk.put(picture, as: "inbox/all/\(format)-\(read).\(format)")
                }
            }
            try await daemon.start()
            try await Self.settle(daemon, disk, formats.count * reads.count)
            #expect(try disk.refused > formats.count)
            for format in formats {
                let results = try reads.map { try daemon.data("outbox/all/\(format)-\($0).png") }
                #expect(results.allSatisfy { $0 == results[0] }, "\(format)")
            }
            await daemon.stop()
        }
    }

    @Test("an exhausted quota counts as a full disk: its jobs wait with the reason, others go on, and it recovers")
    func quota() async throws {
        try await Self.withDisk(["all", "other"]) { daemon, disk in
            // The EDQUOT error hits the worker's results, and the file with which the daemon checks for free space.
            try disk.refuse("write", "/outbox/all/.staging/*", [EDQUOT])
            try disk.put(as: "inbox/all/x.png")
            try await daemon.start()
            try await daemon.job("x.png", becomes: "waiting")
            let reason = "no space in \(daemon.path("outbox/all"))"
            let job = try #require(try daemon.list().first)
            #expect(job.reason == reason && job.setbacks == 0 && job.error == nil, "\(job)")
            #expect(try daemon.status().problems.first?.hasPrefix(reason) == true)
            try disk.put(as: "inbox/all/second.png")
            try disk.put(as: "inbox/other/y.png")
            try await daemon.job("y.png", becomes: "done")
            #expect(disk.files(in: "inbox/all").contains("second.png"))
            try disk.clear()
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done", "done"])
            #expect(try daemon.status().problems == [])
            await daemon.stop()
            #expect(disk.files(in: "failed") == [])
            #expect(disk.files(in: "archive") == ["all/second.png", "all/x.png", "other/y.png"])
        }
    }

    @Test("a half-published job that is cancelled before its retry leaves nothing behind")
    func cancelled() async throws {
        try await Self.withDisk(["all"]) { daemon, disk in
            try disk.refuse("rename", "*.small.jpg")
            try disk.put(as: "inbox/all/one.png")
            try await daemon.start()
            try await daemon.event { $0.job?.reason?.contains("retry at") == true }
            _ = try daemon.call(Call.Pause(queue: "publish", reason: "for the test"))
            let id = try await daemon.event { $0.job?.reason == "paused: for the test" }.job?.id
            try disk.clear()
            #expect(try daemon.call(Call.Cancel(ids: [try #require(id)])).jobs.map(\.state) == ["cancelled"])
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(disk.files(in: "cancelled") == ["all/one.png"])
            #expect(disk.files(in: "outbox") == [])
        }
    }

    @Test(
        "a return that the disk interrupts is undone, `wait` ends, and the job can be brought back again",
        arguments: ["renamed /failed/all/x.png", "fsyncdir /inbox/all/.pipelined/test/0", "getattr /failed/all/x.png"])
    func brokenReturn(fault: String) async throws {
        try await Self.withDisk(["all"]) { daemon, disk in
            try disk.put(Data("no picture".utf8), as: "inbox/all/x.png")
            try await daemon.start()
            try await daemon.job("x.png", becomes: "failed")
            try await daemon.waitForAll()
            let failed = ["all/x.png", "all/x.png.error.txt"]
            #expect(disk.files(in: "failed") == failed)
            let words = fault.split(separator: " ").map(String.init)
            // The first `getattr` must succeed, because the daemon has to find the original.
            let first = words[0] == "getattr" ? 2 : 1
            try disk.refuse(words[0], words[1], from: first, times: words[0] == "getattr" ? 3 : 1, [EIO])
            let refused = try await daemon.pipectl("retry", "1")
            #expect(refused.status == 1 && refused.errors.contains("Input/output error"), "\(refused)")
            try await daemon.waitForAll()
            #expect(disk.files(in: "failed") == failed)
            #expect(disk.files(in: "inbox") == [])
            try disk.clear()
            #expect(try daemon.call(Call.Retry(ids: [1])).retried == [1])
            try await daemon.waitForAll()
            #expect(disk.files(in: "failed") == failed)
        }
    }

    @Test("a return that a crash interrupted is undone once the disk answers where the original lies")
    func returnBrokenByCrash() async throws {
        try await Self.withDisk(["all"]) { daemon, disk in
            try disk.put(Data("no picture".utf8), as: "inbox/all/x.png")
            try await daemon.start()
            try await daemon.job("x.png", becomes: "failed")
            try await daemon.waitForAll()
            await daemon.stop()
            let place = daemon.path("inbox/all/.pipelined/test/0/x.png")
            try await daemon.ledger("UPDATE jobs SET returns = '\(place)'")
            try disk.refuse("getattr", "/failed/all/x.png", [EIO])
            try await daemon.start()
            try await daemon.says("its original, which was being brought back, can't be found")
            #expect(try daemon.status().problems.contains { $0.contains("which was being brought back") })
            try disk.clear()
            try await daemon.waitForAll()
            #expect(try daemon.call(Call.Retry(ids: [1])).retried == [1])
            try await daemon.waitForAll()
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("an original that can't be given back is reported, and the others are given back")
    func givenBack() async throws {
        try await Self.withDisk(["all"]) { daemon, disk in
            try daemon.write("in the way", to: "archive/all")
            try disk.put(as: "inbox/all/a.png")
            try await daemon.start()
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            _ = try daemon.call(Call.Pause(queue: "render"))
            try disk.put(as: "inbox/all/b.png")
            try await daemon.job("b.png", becomes: "queued")
            await daemon.stop(SIGKILL)
            try FileManager.default.removeItem(atPath: daemon.path("archive/all"))
            try disk.refuse("fsyncdir", "/archive/all", [EIO])
            let arguments = ["--root", daemon.root.path, "--give-back"]
            let outcome = try await Programs.run("pipelined", arguments)
            #expect(outcome.status != 0, "\(outcome)")
            #expect(outcome.output.contains("a.png could not be given back: fsync"), "\(outcome)")
            #expect(disk.files(in: "inbox") == ["all/b.png"])
            #expect(disk.files(in: "archive") == ["all/a.png"])
            try disk.clear()
            #expect(try await Programs.run("pipelined", arguments).status == 0)
        }
    }

    @Test("a folder whose listing fails is not treated as empty")
    func listing() async throws {
        let folder = NSTemporaryDirectory() + "pipelined-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await FaultyDisk.with(folder) { disk in
            try disk.put(as: "album/a.png")
            try disk.refuse("readdir", "/album", [EIO])
            let refusal = SystemError("readdir", "\(folder)/album", code: EIO)
            #expect(throws: refusal) { try FileSystem.names(in: "\(folder)/album") }
            try disk.clear()
            #expect(try FileSystem.names(in: "\(folder)/album") == ["a.png"])
        }
    }

    @Test("a staging file that can't be removed is retried a few times, then left to the next start")
    func litter() async throws {
        try await Self.withDisk(["all"], chain: "Conflict=skip\n[Output]\nChain=save\n") { daemon, disk in
            try disk.put(as: "outbox/all/x.jpg")
            try disk.refuse("unlink", "/outbox/all/.staging/test/1-0.jpg", [EIO])
            try disk.put(as: "inbox/all/x.png")
            try await daemon.start()
            try await daemon.says("ignoring; the next start removes it")
            #expect(try disk.refused == 5)
            #expect(disk.files(in: "outbox/all/.staging/test") == ["1-0.jpg"])
            await daemon.stop()
            try disk.clear()
            try await daemon.start()
            await daemon.stop()
            #expect(disk.files(in: "outbox") == ["all/x.jpg"])
        }
    }

    @Test(
        "a job whose results can't be taken back is retried only when they are, and only by its new recipe")
    func takingBack() async throws {
        let chain = "[Output]\nChain=save\n[Output small]\nChain=resize scale=0.5\n"
        try await Self.withDisk(["all"], chain: chain) { daemon, disk in
            // The rename of the second result fails, so the job fails. The first result is already published, and can't
            // be moved out of the outbox again.
            try disk.refuse("rename", "/outbox/all/.staging/test/1-1.jpg", [EISDIR])
            try disk.refuse("rename", "/outbox/all/x.jpg", from: 2, [EPERM])
            try disk.put(as: "inbox/all/x.png")
            try await daemon.start()
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            #expect(try daemon.list().map(\.state) == ["failed"])
            try daemon.write("[Recipe]\nInbox=all\n[Output]\nChain=save format=png\n", to: "etc/recipes.d/all.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            #expect(throws: ControlError.self) { try daemon.call(Call.Retry(ids: [1])) }
            #expect(try daemon.list().map(\.state) == ["failed"])
            try disk.clear()
            #expect(try daemon.call(Call.Retry(ids: [1])).retried == [1])
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done"])
            await daemon.stop()
            #expect(disk.files(in: "outbox") == ["all/x.png"])
            #expect(disk.files(in: "archive") == ["all/x.png"])
        }
    }

    private static let makeFormats = """
        cd "$1" && vips gaussnoise n.v 400 300 && vips cast n.v g.v uchar && vips bandjoin 'g.v g.v g.v' c.v &&
        vips copy c.v s.v --interpretation srgb && for f in jpg png webp tif gif; do vips copy s.v s.$f || exit; done &&
        vips heifsave s.v s.avif --compression av1
        """

    /// Waits until the archive contains `count` pictures and the ledger has recorded their moves.
    private static func settle(_ daemon: DaemonFixture, _ disk: FaultyDisk, _ count: Int) async throws {
        while try disk.files(in: "archive").count < count
            || daemon.status().problems.contains(where: { $0.contains("stays at") })
        {
            guard daemon.isRunning else { throw Missing("the daemon is gone") }
            try await daemon.waitForAll()
        }
    }

    /// Runs a daemon whose folders lie on a faulty disk, except for state/ and run/.
    private static func withDisk(
        _ recipes: [String], across: Bool = false,
        chain: String = "[Output]\nChain=save\n[Output small]\nChain=resize scale=0.5\n",
        _ body: (DaemonFixture, FaultyDisk) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let root = daemon.root.path
            try await FaultyDisk.with(root) { disk in
                let own = ["state", "run"]
                for folder in own { try daemon.write("", to: "\(folder)/.keep") }
                for folder in own { try #require(mount("tmpfs", daemon.path(folder), "tmpfs", 0, nil) == 0) }
                defer { for folder in own { umount2(daemon.path(folder), Int32(MNT_DETACH)) } }
                if across {
                    let archive = daemon.path("archive")
                    try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: true)
                    try #require(mount(archive, archive, nil, UInt(MS_BIND), nil) == 0)
                }
                defer { if across { umount2(daemon.path("archive"), Int32(MNT_DETACH)) } }
                try daemon.write("test\n", to: "state/id")
                try daemon.write(settings, to: "etc/pipelined.conf")
                for recipe in recipes {
                    try daemon.write(
                        "[Recipe]\nInbox=\(recipe)\n\(chain)",
                        to: "etc/recipes.d/\(recipe).recipe")
                }
                try await body(daemon, disk)
            }
        }
    }

    private static let settings = """
        [Daemon]
        Retries=100
        RetryDelay=100ms
        RetryMost=100ms
        [Inbox]
        PollInterval=200ms
        SettlePolled=50ms
        """
}
