import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Recipes that lack something they need")
struct ConfigurationFailureTests {
    private static let recipe = "[Recipe]\nInbox=card\n[Output]\nChain=resize scale=0.5\n"

    @Test(
        "a read-only outbox holds only its own recipe, with the reason; no job fails, and work resumes by itself",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func readOnly() async throws {
        try await DaemonFixture.with(["etc/recipes.d/card.recipe": Self.recipe], started: false) { daemon in
            try await Mount.with(daemon.path("outbox/card"), size: "1m") { disk in
                try await daemon.start()
                try daemon.drop(as: "first.png", inbox: "inbox/card")
                try await daemon.job("first.png", becomes: "done")
                try #require(mount(nil, disk.folder, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
                try daemon.drop(as: "second.png", inbox: "inbox/card")
                let event = try await daemon.event { $0.job?.input == "second.png" && $0.job?.state == "waiting" }
                let reason = "\(disk.folder) can't be written: Read-only file system"
                #expect(event.job?.reason == reason)
                let job = try #require(try daemon.list(["waiting"]).first)
                #expect(job.failure == "configuration" && job.setbacks == 0)
                let status = try daemon.status()
                #expect(status.problems == ["\(reason); its work goes on when it can be written"])
                #expect(status.waiting == [Control.Waiting(reason: reason, jobs: 1)])
                #expect(status.inboxes.first { $0.recipe == "card" }?.problem == reason)
                try daemon.drop(as: "third.png", inbox: "inbox/card")
                try daemon.drop(as: "beside.png")
                try await daemon.job("beside.png", becomes: "done")
                #expect(daemon.exists("inbox/card/third.png"))

                try #require(mount(nil, disk.folder, nil, UInt(MS_REMOUNT), nil) == 0)
                try await daemon.waitForAll()
                #expect(try daemon.list().map(\.state) == Array(repeating: "done", count: 4))
                #expect(try daemon.status().problems == [])
                await daemon.stop()
                #expect(daemon.files(in: "outbox/card") == ["first.jpg", "second.jpg", "third.jpg"])
            }
        }
    }

    @Test(
        "an outbox whose mode forbids writing holds only its own recipe, even when that is found at the rename",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func forbidden() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            try await daemon.start(under: Nobody.wrapper)
            try daemon.drop(as: "first.png")
            try await daemon.job("first.png", becomes: "done")
            // Subfolders are still writable, so the staging files can be created; only the rename fails.
            #expect(chmod(daemon.path("outbox/noir"), 0o555) == 0)
            try daemon.drop(as: "second.png")
            let event = try await daemon.event { $0.job?.input == "second.png" && $0.job?.state == "waiting" }
            #expect(event.job?.reason == "\(daemon.path("outbox/noir")) can't be written: Permission denied")
            #expect(chmod(daemon.path("outbox/noir"), 0o755) == 0)
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done"])
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/first.jpg", "noir/second.jpg"])
        }
    }

    @Test(
        "an unwritable folder in the outbox affects only the jobs that publish there",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func folderWithin() async throws {
        let files = ["etc/pipelined.conf": "[Daemon]\nRetries=1\nRetryDelay=100ms\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            for folder in ["outbox/noir/closed", "inbox/closed", "inbox/open"] {
                try FileManager.default.createDirectory(atPath: daemon.path(folder), withIntermediateDirectories: true)
            }
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            #expect(chmod(daemon.path("outbox/noir/closed"), 0o555) == 0)
            try await daemon.start(under: Nobody.wrapper)
            try daemon.drop(as: "closed/a.png")
            try daemon.drop(as: "open/b.png")
            try await daemon.job("open/b.png", becomes: "done")
            try await daemon.waitForAll()
            let job = try #require(try daemon.list(["failed"]).first)
            #expect(job.input == "closed/a.png" && job.failure == "configuration" && job.setbacks == 1)
            #expect(job.error?.contains("Permission denied; it was tried 2 times") == true, "\(job)")
            #expect(try daemon.status().problems == [])
        }
    }

    @Test(
        "a missing plugin holds only the recipes that use it; when it is back, their pictures pass",
        arguments: [false, true])
    func missingFilter(reloading: Bool) async throws {
        let files = [
            "etc/recipes.d/copy.recipe": "[Recipe]\nInbox=copy\n[Output]\nChain=copy | save\n",
            "etc/pipelined.conf": "[Queues]\nRender=1\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            let (plugin, away) = (daemon.path("plugins/copy.so"), daemon.path("copy.so"))
            try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try Plugin(name: "copy", body: "return vips_copy(in, out, NULL);").compile(to: plugin)
            try await daemon.start()
            try daemon.drop(as: "first.png", inbox: "inbox/copy")
            try await daemon.job("first.png", becomes: "done")
            try FileManager.default.moveItem(atPath: plugin, toPath: away)
            // Workers load this copy instead of the original file.
            let copy = try #require(daemon.files(in: "state/plugins").first { $0.hasSuffix("copy.so") })
            try FileManager.default.removeItem(atPath: daemon.path("state/plugins/\(copy)"))
            for worker in try daemon.workers() { kill(worker, SIGKILL) }
            try await daemon.says("an idle render worker was ended by signal 9")

            try daemon.drop(as: "second.png", inbox: "inbox/copy")
            let event = try await daemon.event { $0.job?.input == "second.png" && $0.job?.state == "waiting" }
            #expect(event.job?.reason == "the filter 'copy' is not loaded")
            #expect(try daemon.list(["waiting"]).map(\.failure) == ["configuration"])
            let problem = try #require(try daemon.status().problems.first)
            #expect(problem.hasPrefix("the filter 'copy' is not loaded; its work goes on when its plugin is back"))
            try daemon.drop(as: "third.png", inbox: "inbox/copy")
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            #expect(daemon.exists("inbox/copy/third.png"))

            try FileManager.default.moveItem(atPath: away, toPath: plugin)
            if reloading { #expect(try daemon.call(Call.Reload()).problems.isEmpty) }
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == Array(repeating: "done", count: 4))
            #expect(try daemon.status().problems == [])
            await daemon.stop()
            #expect(daemon.files(in: "outbox/copy") == ["first.jpg", "second.jpg", "third.jpg"])
        }
    }
}
