import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Dropped folders")
struct FolderBatchTests {
    /// Settings for the inbox. With `soon`, a folder settles quickly; with `late`, only after the test changes the
    /// setting.
    private static let (soon, late) = ("[Inbox]\nSettle=20ms\n", "[Inbox]\nSettle=1h\n")
    private static let barrier = "[Output]\nChain=resize scale=0.5 | barrier | noir\n"

    private func withDaemon(
        _ configuration: String = soon, chain: String? = nil, _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        var files = ["etc/pipelined.conf": configuration]
        files["etc/recipes.d/noir.recipe"] = chain
        try await DaemonFixture.with(files, body)
    }

    /// Moves a folder with files of these names into the inbox.
    private func drop(
        _ files: [String], as name: String, into daemon: DaemonFixture, _ data: Data = Picture.small
    ) throws {
        let outside = "outside-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: daemon.path(outside), withIntermediateDirectories: true)
        for file in files { try daemon.write(data, to: "\(outside)/\(file)") }
        try FileManager.default.createDirectory(atPath: daemon.path("inbox"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: daemon.path(outside), toPath: daemon.path("inbox/\(name)"))
    }

    private func ended(_ daemon: DaemonFixture, _ count: Int = 1) async throws -> [Control.Batch] {
        for id in 1...count { try await daemon.event { $0.batch?.id == id && $0.text == "ended" } }
        return try daemon.call(Call.Batches()).batches
    }

    /// Returns the paths of a batch's jobs, in queue order.
    private func paths(_ batch: Int, _ daemon: DaemonFixture) async throws -> [String] {
        try await daemon.ledger("SELECT path FROM jobs WHERE batch = \(batch) ORDER BY position")
    }

    /// Returns the names of the folders in the inbox.
    private func folders(_ daemon: DaemonFixture) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: daemon.path("inbox")).filter { $0 != ".pipelined" }.sorted()
    }

    @Test("a folder that is moved in becomes a batch with its name and its pictures in name order, and disappears")
    func moved() async throws {
        try await withDaemon { daemon in
            try drop(["img10.png", "img2.png", "deep/deeper/a.png", "deep/b.png"], as: "lucerne", into: daemon)
            let batch = try #require(try await ended(daemon).first)
            #expect(batch.name == "lucerne" && batch.done == 4 && !batch.open)
            #expect(
                try await paths(1, daemon) == [
                    "lucerne/img2.png", "lucerne/img10.png", "lucerne/deep/b.png", "lucerne/deep/deeper/a.png",
                ])
            // The daemon removes the folders after the end of the batch.
            while try folders(daemon) != [] { await Look.again() }
            #expect(daemon.files(in: "outbox/noir").contains("lucerne/deep/deeper/a.jpg"))
            #expect(daemon.files(in: "archive/noir").contains("lucerne/img2.png"))
        }
    }

    @Test("a picture at the top of the inbox, and a folder without pictures, become no batch")
    func none() async throws {
        try await withDaemon { daemon in
            try drop([], as: "empty", into: daemon)
            try drop(["notes.txt"], as: "notes", into: daemon)
            try daemon.drop(as: "single.png")
            try await daemon.event { $0.kind == "picture" }
            try drop(["a.png"], as: "album", into: daemon)
            #expect(try await ended(daemon).map(\.name) == ["album"])
            #expect(try daemon.list().map(\.batch) == [nil, 1])
            #expect(try folders(daemon) == ["empty", "notes"])
        }
    }

    @Test("two folders at once become two batches")
    func two() async throws {
        try await withDaemon { daemon in
            for name in ["tokyo", "lucerne"] {
                try drop((1...5).map { "\(name)\($0).png" }, as: name, into: daemon)
            }
            let batches = try await ended(daemon, 2)
            #expect(batches.map(\.done) == [5, 5] && Set(batches.map(\.name)) == ["tokyo", "lucerne"])
            for batch in batches {
                let name = try #require(batch.name)
                #expect(try await paths(batch.id, daemon) == (1...5).map { "\(name)/\(name)\($0).png" })
            }
        }
    }

    @Test("ignored files stay in their folder, with the reason; an empty folder beside them is removed")
    func strangers() async throws {
        try await withDaemon { daemon in
            let outside = daemon.path("album")
            for name in ["album/a.png", "album/deep/b.png", "album/kept/c.png"] {
                try daemon.write(Picture.small, to: name)
            }
            for name in ["album/notes.txt", "album/kept/.hidden"] { try daemon.write("text", to: name) }
            #expect(symlink("a.png", "\(outside)/link.png") == 0)
            #expect(rename(outside, daemon.path("inbox/album")) == 0)
            #expect(try await ended(daemon).map(\.done) == [3])
            #expect(daemon.files(in: "inbox/album") == ["kept/.hidden", "link.png", "notes.txt"])
            #expect(!daemon.exists("inbox/album/deep"))
            let ignored = try daemon.call(Call.ListIgnored()).ignored.map { FileSystem.name(of: $0.path) }
            #expect(ignored == ["link.png", "notes.txt"])
        }
    }

    @Test("a folder that existed before stays, and each burst of files into it is a separate batch")
    func customer() async throws {
        try await withDaemon(started: false, Self.soon) { daemon in
            try FileManager.default.createDirectory(
                atPath: daemon.path("inbox/customer"), withIntermediateDirectories: true)
            try await daemon.start()
            for (id, name) in ["a.png", "b.png"].enumerated() {
                try daemon.drop(as: "customer/\(name)")
                try await daemon.event { $0.batch?.id == id + 1 && $0.text == "ended" }
            }
            #expect(try daemon.call(Call.Batches(name: "customer")).batches.map(\.done) == [1, 1])
            #expect(try folders(daemon) == ["customer"])
        }
    }

    private func withDaemon(
        started: Bool, _ configuration: String, _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": configuration], started: started, body)
    }

    @Test("with Original=keep the folder is a batch as well, and stays unchanged")
    func kept() async throws {
        try await withDaemon(chain: "[Recipe]\nOriginal=keep\n[Output]\nChain=noir\n") { daemon in
            try drop(["b.png", "a.png"], as: "album", into: daemon)
            #expect(try await ended(daemon).map(\.name) == ["album"])
            #expect(try await paths(1, daemon) == ["album/a.png", "album/b.png"])
            #expect(daemon.files(in: "inbox/album") == ["a.png", "b.png"])
        }
    }

    @Test("while a folder is being copied its batch is open, and waits at its barrier for all files")
    func copied() async throws {
        // With `late`, no file settles before the copy is complete, however slow the machine is.
        try await withDaemon(Self.late, chain: Self.barrier) { daemon in
            try FileManager.default.createDirectory(
                atPath: daemon.path("inbox/album/deep"), withIntermediateDirectories: true)
            try await daemon.waitForAll()
            var slow: Descriptor? = try Descriptor.open(daemon.path("inbox/album/slow.png"), O_WRONLY | O_CREAT)
            let bytes = Array(Picture.small)
            let number = try #require(slow?.number)
            #expect(write(number, bytes, 10) == 10)
            for name in ["a.png", "deep/b.png"] {
                try daemon.drop(as: "album/\(name)")
                try await daemon.event { $0.job?.input == "album/\(name)" && $0.job?.state == "waiting" }
            }
            let open = try daemon.call(Call.FindBatch(batch: "album")).batch
            #expect(open.open && open.waiting == 2)
            #expect(daemon.exists("inbox/album/deep"))
            #expect(write(number, Array(bytes[10...]), bytes.count - 10) == bytes.count - 10)
            slow = nil
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            #expect(try daemon.call(Call.Reload()).problems == [])
            let batch = try #require(try await ended(daemon).first)
            #expect(batch.done == 3)
            #expect(try daemon.call(Call.Batches()).batches.count == 1)
            while try folders(daemon) != [] { await Look.again() }
        }
    }

    /// Runs a daemon with an existing folder `album`. The daemon takes no file from it before the test shortens
    /// Settle=.
    private func withAlbum(chain: String? = nil, _ body: (DaemonFixture) async throws -> Void) async throws {
        var files = ["etc/pipelined.conf": Self.late]
        files["etc/recipes.d/noir.recipe"] = chain
        try await DaemonFixture.with(files, started: false) { daemon in
            try FileManager.default.createDirectory(
                atPath: daemon.path("inbox/album"), withIntermediateDirectories: true)
            try await daemon.start()
            try await daemon.waitForAll()
            try await body(daemon)
        }
    }

    /// Reloads the configuration; returns when the inboxes are watched again.
    private func reload(_ daemon: DaemonFixture) async throws {
        #expect(try daemon.call(Call.Reload()).problems == [])
        try await daemon.waitForAll()
    }

    @Test("a reload continues an open batch, and closes one whose inbox is gone")
    func reload() async throws {
        try await withAlbum { daemon in
            for name in ["a.png", "b.png"] {
                try daemon.drop(as: "album/\(name)")
                try await daemon.job("album/\(name)", becomes: "done")
                try await reload(daemon)
            }
            #expect(try daemon.call(Call.Batches()).batches.map(\.open) == [true])
            // The reload creates a new inbox, which has the shorter settling time.
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            try await reload(daemon)
            #expect(try await ended(daemon).map(\.done) == [2])
            try daemon.write(Self.late, to: "etc/pipelined.conf")
            try await reload(daemon)
            try daemon.drop(as: "album/c.png")
            try await daemon.job("album/c.png", becomes: "done")
            try daemon.write("[Recipe]\nInbox=elsewhere\n[Output]\nChain=noir\n", to: "etc/recipes.d/noir.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            #expect(try await ended(daemon, 2).map(\.done) == [2, 1])
        }
    }

    @Test("a settling folder is the newest batch of its name, and wait waits for its pictures")
    func settling() async throws {
        try await withAlbum { daemon in
            try daemon.drop(as: "album/a.png")
            try await daemon.job("album/a.png", becomes: "done")
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            try await reload(daemon)
            _ = try await ended(daemon)
            try daemon.write(Self.late, to: "etc/pipelined.conf")
            try await reload(daemon)
            for name in ["b.png", "deep/c.png"] { try daemon.write(Picture.small, to: "inbox/album/\(name)") }
            let words = ["--root", daemon.root.path, "wait", "--batch", "album", "--json"]
            async let waited = Programs.run("pipectl", words)
            while try daemon.call(Call.Batches()).batches.count < 2 { await Look.again() }
            let batch = try #require(try daemon.call(Call.Batches()).batches.last)
            #expect(batch.name == "album" && batch.open && batch.queued == 0)
            #expect(try daemon.call(Call.FindBatch(batch: "album")).others == 1)
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            try await reload(daemon)
            let outcome = try await waited
            #expect(outcome.status == 0)
            #expect(try outcome.objects().compactMap { $0["id"] as? Int }.sorted() == [2, 3])
            // Files, hidden folders, missing folders and folders without pictures are not batches.
            for name in ["a.png", ".pipelined", "..", "nowhere", "album/deep"] {
                try daemon.write(Picture.small, to: "inbox/a.png")
                let wrong = try await daemon.pipectl("wait", "--batch", name)
                #expect(wrong.status == 2 && wrong.errors.contains("there is no batch"), "\(name): \(wrong)")
            }
        }
    }

    @Test("cancel --batch cancels the settling files of the folder, and nothing else")
    func settlingCancelled() async throws {
        try await withAlbum { daemon in
            for name in ["album/a.png", "album/deep/b.png", "other/c.png", "d.png"] {
                try daemon.write(Picture.small, to: "inbox/\(name)")
            }
            let outcome = try await daemon.pipectl("cancel", "--batch", "album")
            #expect(outcome.lines == ["cancelled 2 jobs"])
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            try await reload(daemon)
            let jobs = try daemon.list().map { "\($0.input) \($0.state)" }.sorted()
            #expect(
                jobs == ["album/a.png cancelled", "album/deep/b.png cancelled", "d.png done", "other/c.png done"])
            #expect(daemon.files(in: "cancelled/noir") == ["album/a.png", "album/deep/b.png"])
            #expect(try daemon.call(Call.FindBatch(batch: "album")).batch.cancelled == 2)
        }
    }

    @Test(
        "a daemon that is killed or stopped in the middle of a folder closes its batch; the rest is another batch",
        arguments: [9, 15])
    func killed(signal: Int32) async throws {
        try await withAlbum(chain: Self.barrier) { daemon in
            for name in ["a.png", "b.png"] {
                try daemon.drop(as: "album/\(name)")
                try await daemon.event { $0.job?.input == "album/\(name)" && $0.job?.state == "waiting" }
            }
            await daemon.stop(signal)
            try daemon.write(Self.soon, to: "etc/pipelined.conf")
            for name in ["c.png", "deep/d.png"] { try daemon.drop(as: "album/\(name)") }
            try await daemon.start()
            let batches = try await ended(daemon, 2)
            #expect(batches.map(\.name) == ["album", "album"] && batches.map(\.done) == [2, 2])
            #expect(
                daemon.files(in: "archive/noir") == ["album/a.png", "album/b.png", "album/c.png", "album/deep/d.png"])
            #expect(try daemon.call(Call.FindBatch(batch: "album")).others == 1)
        }
    }

    @Test("hundreds of pictures are taken in name order")
    func many() async throws {
        // The inbox hands over this many pictures in several portions.
        let count = Sweep.of(600, all: 2000)
        try await withDaemon { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try drop((1...count).shuffled().map { "img\($0).png" }, as: "album", into: daemon, Data("x".utf8))
            try await daemon.event { $0.job?.input == "album/img\(count).png" }
            #expect(try await paths(1, daemon) == (1...count).map { "album/img\($0).png" })
            let outcome = try await daemon.pipectl("cancel", "--batch", "album")
            #expect(outcome.lines == ["cancelled \(count) jobs"])
            #expect(try await ended(daemon).map(\.cancelled) == [count])
        }
    }

    @Test("retry and wait accept a folder's name: failed pictures return, and are waited for with the others")
    func verbs() async throws {
        try await withDaemon { daemon in
            try drop(["a.png", "b.png"], as: "tokyo", into: daemon)
            try await daemon.event { $0.batch?.name == "tokyo" && $0.text == "ended" }
            for name in ["lucerne", "geneva"] {
                try drop(["bad.png"], as: name, into: daemon, Data("no picture".utf8))
                try await daemon.event { $0.batch?.name == name && $0.text == "ended" }
            }
            let none = try await daemon.pipectl("retry", "--batch", "tokyo")
            #expect(none.status == 0 && none.lines == ["nothing to retry"])
            let cursor = try daemon.status().cursor
            #expect(try await daemon.pipectl("retry", "--failed", "--batch", "lucerne").lines == ["retrying 1 job: #3"])
            try await daemon.event(since: cursor) { $0.batch?.name == "lucerne" && $0.text == "ended" }
            #expect(try await daemon.pipectl("retry", "--batch", "geneva").lines == ["retrying 1 job: #4"])
            let good = try await daemon.pipectl("wait", "--batch", "tokyo")
            #expect(good.status == 0 && good.lines.count == 2)
            let bad = try await daemon.pipectl("wait", "--batch", "geneva", "--json")
            #expect(bad.status == 1)
            #expect(try bad.objects().map { $0["id"] as? Int } == [4])
            for words in [["wait", "1", "--batch", "tokyo"], ["retry", "1", "--batch", "tokyo"]] {
                #expect(try await Programs.run("pipectl", ["--root", daemon.root.path] + words).status == 2)
            }
        }
    }

    @Test("wait --batch waits for an open batch, and reports each of its jobs once")
    func waiting() async throws {
        try await withDaemon { daemon in
            let client = try daemon.client()
            let batch = try client.call(Call.NewBatch(name: "album")).batch
            try daemon.write(Picture.small, to: "mine/a.png")
            func add() throws -> Int {
                let picture = try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
                return try client.call(Call.Add(name: "a.png", batch: batch), descriptors: [picture]).job.id
            }
            try await daemon.wait([try add()])
            let words = ["--root", daemon.root.path, "wait", "--batch", "album", "--json"]
            async let waited = Programs.run("pipectl", words)
            try await daemon.wait([try add()])
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            let last = try add()
            _ = try client.call(Call.CloseBatch(batch: batch))
            _ = try daemon.call(Call.Cancel(ids: [last]))
            let outcome = try await waited
            #expect(outcome.status == 1)
            #expect(try outcome.objects().map { $0["id"] as? Int } == [1, 2, 3])
        }
    }
}
