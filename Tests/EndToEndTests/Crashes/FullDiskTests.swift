import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Full disks", .enabled(if: Mount.isPermitted, "only root may mount a small file system"))
struct FullDiskTests {
    @Test("without room in the outbox its jobs wait with that reason, other recipes go on, and work resumes by itself")
    func outbox() async throws {
        let files = [
            "etc/pipelined.conf": "[Daemon]\nFreeSpace=64K\n",
            "etc/recipes.d/full.recipe": "[Recipe]\nInbox=full\nOutbox=full\n[Output]\nChain=save\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            try await Mount.with(daemon.path("outbox/full"), size: "1m") { disk in
                try disk.fill()
                try await daemon.start()
                try daemon.drop(as: "first.png", inbox: "inbox/full")
                try await daemon.job("first.png", becomes: "waiting")
                let reason = "no space in \(daemon.path("outbox/full"))"
                #expect(try daemon.list().map { [$0.state, $0.reason] } == [["waiting", reason]])
                let status = try daemon.status()
                #expect(status.problems.first?.hasPrefix(reason) == true)
                #expect(status.inboxes.first { $0.recipe == "full" }?.problem == reason)
                try daemon.drop(as: "second.png", inbox: "inbox/full")
                try daemon.drop(as: "other.png")
                try await daemon.job("other.png", becomes: "done")
                #expect(daemon.exists("inbox/full/second.png"))

                try disk.free()
                try await daemon.waitForAll()
                #expect(try daemon.list().map(\.state) == ["done", "done", "done"])
                #expect(try daemon.status().problems == [])
                await daemon.stop()
                #expect(daemon.files(in: "outbox/full") == ["first.jpg", "second.jpg"])
                #expect(daemon.files(in: "archive/full") == ["first.png", "second.png"])
            }
        }
    }

    @Test(
        "an outbox smaller than FreeSpace=, or without inodes, says what it lacks, and recovers once it has that",
        arguments: [false, true])
    func odd(lacksInodes: Bool) async throws {
        let files = [
            "etc/pipelined.conf": "[Daemon]\nFreeSpace=64M\n",
            "etc/recipes.d/full.recipe": "[Recipe]\nInbox=full\nOutbox=full\n[Output]\nChain=save\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            try await Mount.with(daemon.path("outbox/full"), size: lacksInodes ? "1m,nr_inodes=20" : "1m") { disk in
                if lacksInodes { try disk.takeInodes() } else { try disk.fill() }
                try await daemon.start()
                try daemon.drop(as: "first.png", inbox: "inbox/full")
                try await daemon.job("first.png", becomes: "waiting")
                let problem = try #require(try daemon.status().problems.first)
                #expect(
                    problem.contains(
                        lacksInodes ? "goes on when files are removed there" : "goes on when 102 KB are free"))
                if lacksInodes { try disk.freeInodes() } else { try disk.free() }
                try await daemon.job("first.png", becomes: "done")
                #expect(try daemon.status().problems == [])
            }
        }
    }

    @Test("without room in the spool downloads wait with that reason, pictures go on, and downloads resume later")
    func spool() async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        let files = ["etc/pipelined.conf": "[Daemon]\nFreeSpace=64K\n[Download]\nAllowPrivateHosts=127.0.0.1\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            try await Mount.with(daemon.path("state/spool"), size: "1m") { disk in
                try await daemon.start()
                try disk.fill()
                try daemon.drop(Data("\(server.url("/a.png"))\n\(server.url("/b.png"))".utf8), as: "list.urls")
                let reason = "no space in \(daemon.path("state/spool"))"
                for name in ["a.png", "b.png"] { try await daemon.job(name, becomes: "waiting") }
                let waiting = try daemon.list(["waiting"])
                #expect(waiting.map(\.reason) == [reason, reason])
                #expect(waiting.allSatisfy { $0.setbacks == 0 })
                #expect(try daemon.status().problems.first?.hasPrefix(reason) == true)
                try daemon.drop(as: "own.png")
                try await daemon.job("own.png", becomes: "done")

                try disk.free()
                try await daemon.waitForAll()
                #expect(Set(try daemon.list().map(\.state)) == ["done"])
                #expect(try daemon.status().problems == [])
                await daemon.stop()
                #expect(daemon.files(in: "state/spool") == [])
            }
        }
    }

    @Test("a job that waits for room can be cancelled")
    func cancelled() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Mount.with(daemon.path("outbox"), size: "1m") { disk in
                try disk.fill()
                try await daemon.start()
                try daemon.drop(as: "first.png")
                let id = try await daemon.job("first.png", becomes: "waiting")
                #expect(try daemon.call(Call.Cancel(ids: [id])).jobs.map(\.state) == ["cancelled"])
                #expect(try daemon.status().jobs.waiting == 0)
                await daemon.stop()
                #expect(daemon.files(in: "cancelled") == ["noir/first.png"])
            }
        }
    }

    @Test("without room for the ledger nothing starts, the daemon says so, and resumes by itself")
    func ledger() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Mount.with(daemon.path("state"), size: "4m") { disk in
                try await daemon.start()
                try disk.fill()
                try daemon.drop(as: "first.png")
                try await daemon.says("can't write to the ledger")
                let status = try daemon.status()
                #expect(status.problems.first?.hasPrefix("the ledger can't be written") == true)
                #expect(status.inboxes.first?.problem?.hasPrefix("the ledger can't be written") == true)
                #expect(daemon.files(in: "outbox") == [])

                try disk.free()
                try await daemon.says("the ledger can be written again")
                try await daemon.job("first.png", becomes: "done")

                // Settled files that can't be recorded yet must be counted only once.
                try await daemon.waitForAll()
                try disk.fill()
                // The inbox claims a folder as a whole. It claims all four files before the daemon notices that it
                // can't record them.
                for number in 1...4 { try daemon.write(Picture.small, to: "album/\(number).png") }
                try FileManager.default.moveItem(atPath: daemon.path("album"), toPath: daemon.path("inbox/album"))
                var held = try daemon.status()
                // The inbox's count of settling files reaches zero a moment later.
                while held.jobs.waiting != 4 || held.inboxes.first?.settling != 0
                    || daemon.exists("inbox/album/4.png")
                {
                    await Look.again()
                    held = try daemon.status()
                }
                #expect(held.waiting.map(\.jobs) == [4])
                #expect(!daemon.exists("inbox/album/4.png"))
                try disk.free()
                for number in 1...4 { try await daemon.job("album/\(number).png", becomes: "done") }
                try daemon.drop(as: "second.png")
                try await daemon.waitForAll()
                #expect(try daemon.status().problems == [])
                await daemon.stop()
                let originals = (1...4).map { "album/\($0).png" } + ["first.png", "second.png"]
                #expect(daemon.files(in: "archive/noir") == originals)
            }
        }
    }
}
