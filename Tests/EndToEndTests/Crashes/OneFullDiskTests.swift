import Foundation
import PipelineControl
import TestTools
import Testing

@Suite(
    "One full disk for everything", .enabled(if: Mount.isPermitted, "only root may mount a small file system"))
struct OneFullDiskTests {
    /// Runs `body` on a daemon whose root is a separate disk. `bad.png`, of 2 MB, failed two days ago, and `queued.png`
    /// is queued.
    private func with(_ body: (DaemonFixture, Mount) async throws -> Void) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Mount.with(daemon.root.path, size: "24m") { disk in
                try daemon.write("[Inbox]\nSettle=1ms\n", to: "etc/pipelined.conf")
                try await daemon.start()
                try daemon.drop(Data(count: 2 << 20), as: "bad.png")
                try await daemon.job("bad.png", becomes: "failed")
                try await daemon.waitForAll()
                try await daemon.ledger("UPDATE kept SET time = time - 172800")
                _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
                try daemon.drop(as: "queued.png")
                try await daemon.job("queued.png", becomes: "queued")
                try await daemon.has("state/reserve")
                try await body(daemon, disk)
                await daemon.stop()
            }
        }
    }

    /// Adds a rule of [Keep] while the disk still has room for it.
    private func writeRule(_ daemon: DaemonFixture) throws {
        try daemon.write("[Inbox]\nSettle=1ms\n[Keep]\nFailed=1d\n", to: "etc/pipelined.conf")
    }

    /// Returns when the daemon has noticed that the disk is full, or no longer full.
    private func noticed(_ daemon: DaemonFixture, isFull: Bool) async throws {
        while try daemon.status().problems.contains(where: { $0.contains("ledger can't be written") }) != isFull {
            await Look.again()
        }
    }

    private func finish(_ daemon: DaemonFixture) async throws {
        try await noticed(daemon, isFull: false)
        _ = try daemon.call(Call.Concurrency(queue: "render", limit: "auto"))
        try await daemon.job("queued.png", becomes: "done")
    }

    /// Starts the daemon, which must fail; returns its output.
    private func refusedStart(_ daemon: DaemonFixture) async throws -> String {
        try daemon.launch()
        #expect(await daemon.stop(0) == 1)
        return daemon.log
    }

    private static let removed = "Keep Failed=1d: removed 1 of failed"

    // MARK: - Retention

    @Test("with the reserve, a rule of [Keep] makes room automatically, and work continues")
    func keep() async throws {
        try await with { daemon, disk in
            try writeRule(daemon)
            try disk.fill()
            let refused = try await daemon.pipectl("cancel-all")
            #expect(refused.status == 1)
            try await noticed(daemon, isFull: true)
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.says(Self.removed)
            #expect(daemon.files(in: "failed") == [])
            try await finish(daemon)
        }
    }

    @Test("without the reserve the daemon says what it can't remove, and removes it once the ledger can be written")
    func keepWithoutReserve() async throws {
        try await with { daemon, disk in
            try writeRule(daemon)
            try FileManager.default.removeItem(atPath: daemon.path("state/reserve"))
            try disk.fill()
            #expect(try await daemon.pipectl("cancel-all").status == 1)
            #expect(try daemon.call(Call.Reload()).problems == [])
            while try !daemon.status().problems.contains(where: { $0.contains("1 files can't be removed") }) {
                await Look.again()
            }
            #expect(daemon.exists("failed/noir/bad.png"))
            try disk.free()
            try await daemon.says(Self.removed)
            #expect(!daemon.exists("failed/noir/bad.png"))
            try await finish(daemon)
            #expect(try daemon.status().problems == [])
        }
    }

    // MARK: - Starts

    @Test("a start uses the reserve, a rule of [Keep] makes room, and work continues", arguments: [SIGTERM, SIGKILL])
    func keepAtStart(signal: Int32) async throws {
        try await with { daemon, disk in
            try writeRule(daemon)
            await daemon.stop(signal)
            try disk.fill()
            try await daemon.start()
            try await daemon.says("the start uses the room that was kept for this")
            try await daemon.says(Self.removed)
            try await finish(daemon)
        }
    }

    @Test("a start uses the reserve, and clean makes room", arguments: [SIGTERM, SIGKILL])
    func clean(signal: Int32) async throws {
        try await with { daemon, disk in
            await daemon.stop(signal)
            try disk.fill()
            try await daemon.start()
            let cleaned = try await daemon.pipectl("clean", "--failed", "--yes")
            #expect(cleaned.status == 0, "\(cleaned)")
            #expect(daemon.files(in: "failed") == [])
            try await finish(daemon)
            // The reserve has been restored for the next time.
            #expect(daemon.exists("state/reserve"))
        }
    }

    @Test("a start without pending writes needs no reserve, and work waits until there is room")
    func withoutReserve() async throws {
        try await with { daemon, disk in
            await daemon.stop()
            try FileManager.default.removeItem(atPath: daemon.path("state/reserve"))
            try disk.fill()
            try await daemon.start()
            try await noticed(daemon, isFull: true)
            try disk.free()
            try await finish(daemon)
        }
    }

    @Test("a lost ledger is replaced with the help of the reserve, and the loss is reported", arguments: [true, false])
    func lostLedger(hasReserve: Bool) async throws {
        try await with { daemon, disk in
            await daemon.stop(SIGKILL)
            let ledger = ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"].map { daemon.path("state/\($0)") }
            for file in ledger { try? FileManager.default.removeItem(atPath: file) }
            if !hasReserve { try FileManager.default.removeItem(atPath: daemon.path("state/reserve")) }
            try disk.fill()
            if !hasReserve {
                #expect(try await refusedStart(daemon).contains("is full, and a start needs a megabyte there"))
                try disk.free()
            }
            try await daemon.start()
            let words = "is missing or empty, and a new one is begun"
            #expect(try daemon.status().problems.contains { $0.contains(words) })
            #expect(try daemon.text("state/ledger-lost.txt").contains("Nothing is left of the old ledger."))
            try await daemon.job("queued.png", becomes: "done")
        }
    }

    // MARK: - Plugins

    private static let isFull = "is full, so it can't be copied; make room there, then `pipectl reload`"

    /// Adds a recipe with a filter whose file is larger than the free space. The file ends in 4 MB of zeros, which
    /// nothing reads.
    private func addPlugin(_ daemon: DaemonFixture) async throws {
        try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
        try Plugin(name: "odd", body: "*out = in; g_object_ref(in); return 0;")
            .compile(to: daemon.path("plugins/odd.so"))
        let plugin = try FileHandle(forWritingTo: URL(fileURLWithPath: daemon.path("plugins/odd.so")))
        try plugin.seekToEnd()
        try plugin.write(contentsOf: Data(count: 4 << 20))
        try plugin.close()
        try daemon.write("[Recipe]\nInbox=odd\n[Output]\nChain=odd | save\n", to: "etc/recipes.d/odd.recipe")
    }

    private func useOdd(_ daemon: DaemonFixture) async throws {
        let reloaded = try daemon.call(Call.Reload())
        #expect(reloaded.problems == [] && reloaded.skipped == [], "\(reloaded)")
        try daemon.drop(as: "strange.png", inbox: "inbox/odd")
        _ = try daemon.call(Call.Concurrency(queue: "render", limit: "auto"))
        try await daemon.job("strange.png", becomes: "done")
    }

    @Test("a reload says that the disk has no room for a plugin, not that the plugin is wrong or missing")
    func pluginAtReload() async throws {
        try await with { daemon, disk in
            try await addPlugin(daemon)
            try disk.fill()
            let refused = try daemon.call(Call.Reload()).problems.map(\.message)
            #expect(refused.count == 1 && refused[0].contains("unknown stage 'odd'"), "\(refused)")
            #expect(refused[0].contains("plugins/odd.so is left out") && refused[0].contains(Self.isFull), "\(refused)")
            try disk.free()
            try await useOdd(daemon)
        }
    }

    @Test("a start continues without a plugin that has no room, and its recipe waits with that reason")
    func pluginAtStart() async throws {
        try await with { daemon, disk in
            try await addPlugin(daemon)
            await daemon.stop()
            try disk.fill()
            try await daemon.start()
            let copies = daemon.path("state/plugins")
            try await daemon.says("plugins/odd.so is left out: the disk of \(copies) \(Self.isFull)")
            let problems = try daemon.status().problems
            #expect(problems.contains { $0.contains("unknown stage 'odd'") && $0.contains(Self.isFull) }, "\(problems)")
            try disk.free()
            try await useOdd(daemon)
        }
    }

    @Test("a plugin that changes while the disk is full stays in its former version")
    func changedPlugin() async throws {
        try await with { daemon, disk in
            try await addPlugin(daemon)
            try await useOdd(daemon)
            try FileManager.default.removeItem(atPath: daemon.path("plugins/odd.so"))
            try await addPlugin(daemon)
            let changed = try FileHandle(forWritingTo: URL(fileURLWithPath: daemon.path("plugins/odd.so")))
            try changed.seekToEnd()
            try changed.write(contentsOf: Data("changed".utf8))
            try disk.fill()
            let reloaded = try daemon.call(Call.Reload())
            #expect(reloaded.problems == [])
            #expect(reloaded.skipped.count == 1)
            let reason = reloaded.skipped.first?.reason
            #expect(reason?.hasSuffix(Self.isFull + "; its previous version stays in use") == true)
            try disk.free()
        }
    }
}
