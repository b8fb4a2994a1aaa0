import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A filter that crashes with picture after picture")
struct StrikeTests {
    /// Returns a filter that crashes on every picture that is 13 pixels wide.
    private static func odd(version: String, crashes: String = "abort();") -> Plugin {
        Plugin(
            name: "odd", body: "if (in->Xsize == 13) \(crashes) return vips_copy(in, out, NULL);",
            changes: ".version = \"\(version)\"")
    }

    private static let bad = Picture.png(width: 13, height: 5)

    private func with(_ settings: String, crashes: String = "abort();", _ test: (DaemonFixture) async throws -> Void)
        async throws
    {
        let files = [
            "etc/recipes.d/odd.recipe": "[Recipe]\nInbox=odd\n[Output]\nChain=odd | save format=png\n",
            "etc/pipelined.conf": "[Daemon]\n\(settings)\n[Queues]\nRender=1\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try Self.odd(version: "1", crashes: crashes).compile(to: daemon.path("plugins/odd.so"))
            try await daemon.start()
            try await test(daemon)
        }
    }

    @Test(
        "after CrashStrikes different pictures in a row its recipes wait, others go on, and a new version resumes them",
        arguments: [("abort();", "CrashStrikes=3"), ("for (;;) usleep(1000);", "CrashStrikes=3\nJobTimeout=1s")])
    func struckOut(crashes: String, settings: String) async throws {
        try await with(settings, crashes: crashes) { daemon in
            for number in 1...2 {
                try daemon.drop(Self.bad, as: "bad-\(number).png", inbox: "inbox/odd")
                try await daemon.job("bad-\(number).png", becomes: "failed")
            }
            // Only consecutive crashes count: a picture that the filter renders without a crash resets the count.
            try daemon.drop(as: "good.png", inbox: "inbox/odd")
            try await daemon.job("good.png", becomes: "done")
            for number in 3...5 {
                try daemon.drop(Self.bad, as: "bad-\(number).png", inbox: "inbox/odd")
                try await daemon.job("bad-\(number).png", becomes: "failed")
            }
            let reason = "the filter 'odd' has crashed or hung with 3 pictures in a row"
            #expect(
                try daemon.status().problems
                    == ["\(reason); its work goes on when another version of it is loaded (`pipectl reload`)"])
            let stage = try daemon.call(Call.Plugins()).stages.first { $0.name == "odd" }
            #expect(stage?.state == "waiting" && stage?.reason == reason)
            try daemon.drop(Self.bad, as: "bad-6.png", inbox: "inbox/odd")
            try daemon.write(Picture.small, to: "added.png")
            _ = try await daemon.pipectl("add", daemon.path("added.png"), "--chain", "odd | save format=png")
            let event = try await daemon.event { $0.job?.input == "added.png" && $0.job?.state == "waiting" }
            #expect(event.job?.reason == reason)
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            #expect(daemon.exists("inbox/odd/bad-6.png"))

            try Self.odd(version: "2", crashes: ";").compile(to: daemon.path("plugins/odd.so"))
            #expect(try daemon.call(Call.Reload()).problems.isEmpty)
            try await daemon.waitForAll()
            try await daemon.job("bad-6.png", becomes: "done")
            try await daemon.job("added.png", becomes: "done")
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("with CrashStrikes=1 the first crash is enough")
    func first() async throws {
        try await with("CrashStrikes=1") { daemon in
            try daemon.drop(Self.bad, as: "bad.png", inbox: "inbox/odd")
            try await daemon.job("bad.png", becomes: "failed")
            #expect(
                try daemon.status().problems.first?.hasPrefix("the filter 'odd' has crashed or hung with 1 picture;")
                    == true)
        }
    }

    @Test("the same picture counts once, even if brought back, and a picture that breaks its decoder does not count")
    func notCounted() async throws {
        try await with("CrashStrikes=2") { daemon in
            try daemon.drop(Self.bad, as: "bad.png", inbox: "inbox/odd")
            let id = try await daemon.job("bad.png", becomes: "failed")
            for _ in 1...2 {
                #expect(try daemon.call(Call.Retry(ids: [id])).retried == [id])
                #expect(try await daemon.waitForAll().map(\.state) == ["failed"])
            }
            for number in 1...2 {
                try daemon.drop(Data("no picture".utf8), as: "broken-\(number).png", inbox: "inbox/odd")
                try await daemon.job("broken-\(number).png", becomes: "failed")
            }
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("A crash in a thread outside every filter's code counts against no filter, even while one is being applied")
    func outside() async throws {
        let crashes = """
            { pthread_t other; pthread_create(&other, NULL, (void *(*)(void *))abort, NULL); for (;;) usleep(1000); }
            """
        try await with("CrashStrikes=1", crashes: crashes) { daemon in
            try daemon.drop(Self.bad, as: "bad.png", inbox: "inbox/odd")
            let id = try await daemon.job("bad.png", becomes: "failed")
            #expect(try daemon.status().problems == [])
            let job = try #require(try daemon.list().first { $0.id == id })
            #expect(job.error?.hasPrefix("took its worker down twice") == true, "\(job.error ?? "")")
            let advice = try daemon.call(Call.Show(id: id)).story.advice
            #expect(advice?.contains("or look at the filter 'odd'") == true, "\(advice ?? "")")
        }
    }
}
