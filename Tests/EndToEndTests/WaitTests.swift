import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("The end of a wait")
struct WaitTests {
    @Test("when wait returns, each original lies where it belongs, with its explanation if the job failed")
    func over() async throws {
        try await DaemonFixture.with { daemon in
            for round in 1...5 {
                for number in 1...4 { try daemon.drop(as: "\(round)-\(number).png") }
                try daemon.drop(Data("no picture".utf8), as: "\(round)-bad.png")
                try await daemon.waitForAll()
                #expect(daemon.files(in: "archive").count == round * 4)
                #expect(daemon.files(in: "failed").count { $0.contains("bad") } == round * 2)
                try daemon.write("no picture", to: "added.png")
                let added = try await daemon.pipectl("add", daemon.path("added.png"), "--wait", "--chain", "noir")
                #expect(added.status == 1)
                #expect(daemon.files(in: "failed").count { $0.contains("added") } == round * 2)
                for file in daemon.files(in: "failed") where file.contains("added") && !file.hasSuffix(".txt") {
                    #expect(daemon.exists("failed/\(file).error.txt"))
                }
            }
        }
    }

    @Test("wait includes an inbox that can't be read for a moment")
    func unreadable() async throws {
        let settings =
            "[Daemon]\nRetries=100\nRetryDelay=100ms\nRetryMost=100ms\n[Inbox]\nSettle=1ms\nPollInterval=1h\n"
        let files = ["etc/pipelined.conf": settings]
        try await DaemonFixture.with(files) { daemon in
            await daemon.stop()
            for number in 1...5 { try daemon.drop(as: "\(number).png") }
            let inbox = daemon.path("inbox")
            let refused = (1...4).map { FileCalls.Change.fail("openat", EMFILE, on: [inbox], first: $0, step: 0) }
            try await daemon.start(under: FileCalls.wrapper(refused))
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox").count == 5)
            #expect(daemon.log.contains("inbox \(inbox): "))
        }
    }

    @Test("a picture's event, its batch's end and the hook share one moment, which other events precede")
    func moment() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let hook = daemon.path("hook")
            try daemon.write("#!/bin/sh\nls -A \(daemon.path("archive/noir")) > \(daemon.path("seen"))\n", to: "hook")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            try daemon.write("[Recipe]\nHook=\(hook)\n[Output]\nChain=noir\n", to: "etc/recipes.d/noir.recipe")
            // A file occupies the path of the archive's folder.
            try daemon.write("in the way", to: "archive/noir")
            try await daemon.start()
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            #expect(try daemon.list().map(\.state) == ["done"])
            #expect(!daemon.exists("seen"))
            try FileManager.default.removeItem(atPath: daemon.path("archive/noir"))
            let events = try await daemon.events(since: 0) { $0.kind == "picture" }
            #expect(daemon.files(in: "archive") == ["noir/one.png"])
            #expect(
                events.filter { ["published", "picture"].contains($0.kind) }.map(\.kind) == ["published", "picture"])
            var seen = ""
            while seen.isEmpty {
                seen = (try? daemon.text("seen")) ?? ""
                await Look.again()
            }
            #expect(seen == "one.png\n")
        }
    }

    @Test("watch --until-idle ends when wait does, after the last event")
    func untilIdle() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write("in the way", to: "archive/noir")
            try daemon.drop(as: "one.png")
            let words = ["--root", daemon.root.path, "watch", "--until-idle", "--since", "0"]
            async let watch = Programs.run("pipectl", words + ["--json"])
            async let text = Programs.run("pipectl", words)
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            try FileManager.default.removeItem(atPath: daemon.path("archive/noir"))
            let kinds = try await watch.objects().compactMap { $0["kind"] as? String }
            #expect(kinds.count { $0 == "picture" } == 1)
            #expect(kinds.count { $0 == "published" } == 1)
            let lines = try await text.lines
            #expect(lines.contains { $0.hasSuffix("announced  one.png") })
            #expect(!lines.contains { $0.contains("published") })
        }
    }

    @Test("a daemon that is killed between a job's end and the move of its original reports the picture once")
    func killed() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write("in the way", to: "archive/noir")
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            await daemon.stop(SIGKILL)
            try FileManager.default.removeItem(atPath: daemon.path("archive/noir"))
            for _ in 1...2 {
                try await daemon.start()
                try await daemon.waitForAll()
                #expect(daemon.files(in: "archive") == ["noir/one.png"])
                let last = try daemon.status().cursor
                let events = try await daemon.events(since: 0) { $0.cursor >= last }
                #expect(events.count { $0.kind == "picture" } == 1)
                await daemon.stop()
            }
        }
    }

    @Test("wait names an original that can't be moved as the reason of the wait")
    func stuck() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write("in the way", to: "archive/noir")
            try daemon.drop(as: "one.png")
            let id = try await daemon.job("one.png", becomes: "done")
            let client = try daemon.client()
            var (told, isCleared): ([String?], Bool) = ([], false)
            try client.stream(Call.Wait(ids: [id])) { reply in
                if reply.jobs.isEmpty { told.append(reply.waitsFor) }
                // Remove the file only once, because later the archive's folder has this path.
                if reply.waitsFor != nil, !isCleared {
                    try FileManager.default.removeItem(atPath: daemon.path("archive/noir"))
                    isCleared = true
                }
                return true
            }
            #expect(
                told.first??.hasPrefix("job \(id): its original stays at \(daemon.path("inbox"))") == true, "\(told)")
            #expect(daemon.files(in: "archive") == ["noir/one.png"])
        }
    }

    @Test(
        "wait names a disk that does not answer, while other jobs end",
        .enabled(if: Mount.isPermitted, "only root may mount"))
    func hanging() async throws {
        let files = [
            "etc/pipelined.conf": "[Daemon]\nHangTimeout=1s\n",
            "etc/recipes.d/other.recipe": "[Recipe]\nInbox=other\n[Output]\nChain=noir\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            let server = try HangingMount(daemon.path("archive/noir"))
            defer { server.end() }
            try daemon.drop(as: "one.png")
            let id = try await daemon.job("one.png", becomes: "done")
            var told: String?
            try daemon.client().stream(Call.Wait(ids: [id])) { reply in
                told = reply.waitsFor
                return told == nil
            }
            #expect(told?.contains("its original is being moved") == true && told?.contains("does not answer") == true)
            #expect(try daemon.status().problems.contains { $0.contains("does not answer") })
            try daemon.drop(as: "two.png", inbox: "inbox/other")
            try await daemon.wait([try await daemon.job("two.png", becomes: "done")])
            #expect(daemon.files(in: "archive/other") == ["two.png"])
            server.end()
            try await daemon.wait([id])
            #expect(daemon.files(in: "archive/noir") == ["one.png"])
        }
    }
}
