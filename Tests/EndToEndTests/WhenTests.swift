import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Recipes for some pictures only")
struct WhenTests {
    private static let wide = Picture.png(width: 64, height: 48)
    private static let tall = Picture.png(width: 48, height: 64)
    private static let recipe = """
        [Recipe]
        When=format = png and width >= 40

        [Output wide]
        When=orientation = landscape
        Chain=tee copy | resize scale=0.5 | noir

        [Output tall]
        When=orientation = portrait
        Chain=resize scale=0.5

        [Output all]
        Chain=noir
        """

    @Test("each output makes results of the pictures that meet its condition, and a job says which made none, and why")
    func some() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.recipe]) { daemon in
            try daemon.drop(Self.wide, as: "a.png", inbox: "inbox/web")
            try daemon.drop(Self.tall, as: "b.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            let made = daemon.files(in: "outbox/web").filter { !$0.contains(".staging") }.sorted()
            #expect(made == ["a.all.jpg", "a.copy.jpg", "a.wide.jpg", "b.all.jpg", "b.tall.jpg"], "\(made)")
            let job = try #require(try daemon.list().first { $0.input == "a.png" })
            #expect(job.reason == nil && job.outputs.count == 3)
            let story = try await daemon.pipectl("show", "\(job.id)").output
            #expect(story.contains("no result of tall: orientation 'landscape' is not portrait"), "\(story)")
            let again = try await daemon.pipectl("redo", "\(job.id)")
            #expect(again.status == 0)
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/web").filter { !$0.contains(".staging") }.sorted() == made)
        }
    }

    @Test("a picture that no output wants ends as done and is archived, from an inbox, a client, a batch and a URL")
    func none() async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        let files = [
            "etc/recipes.d/web.recipe": Self.recipe.replacing(
                "noir\n\n[Output tall]", with: "barrier | noir\n\n[Output tall]"),
            "etc/pipelined.conf": "[Download]\nAllowPrivateHosts=127.0.0.1\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "small.png", inbox: "inbox/web")
            try daemon.write(Picture.small, to: "mine/added.png")
            try daemon.write(Self.tall, to: "mine/tall.png")
            let added = try await daemon.pipectl("add", daemon.path("mine"), "--recipe", "web", "--wait")
            #expect(added.status == 0, "\(added)")
            _ = try await daemon.pipectl("add", server.url("/url.png"), "--recipe", "web", "--wait")
            try await daemon.waitForAll()
            for job in try daemon.list() where !job.input.contains("tall") {
                #expect(job.state == "done" && job.outputs.isEmpty, "\(job)")
                let reason = "width 32 is below 40"
                #expect(
                    job.reason
                        == "no output wants it: copy: \(reason); wide: \(reason); tall: \(reason); all: \(reason)"
                        || job.reason == "no output wants it: wide: \(reason)", "\(job)")
            }
            #expect(daemon.exists("archive/web/small.png"))
            #expect(
                daemon.files(in: "outbox/web").filter { !$0.contains(".staging") }.sorted() == [
                    "mine/tall.all.jpg", "mine/tall.tall.jpg",
                ])
        }
    }

    @Test("explain says which outputs make no result of a file, and recipes shows the conditions")
    func explained() async throws {
        let files = ["etc/recipes.d/web.recipe": Self.recipe, "etc/pipelined.conf": "[Daemon]\nDefaultRecipe=web\n"]
        try await DaemonFixture.with(files) { daemon in
            try daemon.write(Self.tall, to: "mine/b.png")
            let explanation = try await daemon.pipectl("explain", daemon.path("mine/b.png")).output
            #expect(explanation.contains("no result wide: orientation 'portrait' is not landscape"), "\(explanation)")
            #expect(explanation.contains("decode tall: ") && explanation.contains("result tall: "), "\(explanation)")
            #expect(!explanation.contains("result wide: /"), "\(explanation)")
            let shown = try await daemon.pipectl("recipes").output
            #expect(shown.contains("(format = png and width >= 40) and (orientation = landscape)"), "\(shown)")
        }
    }

    @Test("a condition with a mistake is refused with its line and column")
    func mistake() async throws {
        let recipe = "[Output]\nChain=noir\nWhen=ratin >= 3\n"
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe], started: false) { daemon in
            let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            let line = "web.recipe:3: When=ratin >= 3 has the unknown fact 'ratin' at column 6; did you mean 'rating'?"
            #expect(outcome.status == 78 && (outcome.output + outcome.errors).contains(line), "\(outcome)")
        }
    }

    @Test("a job whose daemon is killed while it waits at a barrier keeps to the condition afterwards")
    func killed() async throws {
        let recipe = "[Output tall]\nWhen=orientation = portrait\nChain=resize scale=0.5 | barrier | noir\n"
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe]) { daemon in
            var client: ControlClient? = try daemon.client()
            let batch = try client?.call(Call.NewBatch()).batch
            for (name, picture) in [("a.png", Self.wide), ("b.png", Self.tall)] {
                try daemon.write(picture, to: "mine/\(name)")
                let file = try Descriptor.open(daemon.path("mine/\(name)"), O_RDONLY)
                _ = try client?.call(Call.Add(name: name, recipe: "web", batch: batch), descriptors: [file])
            }
            while try daemon.list(["waiting"]).count(where: { $0.reason?.hasPrefix("barrier") == true }) < 2 {
                await Look.again()
            }
            _ = await daemon.stop(SIGKILL)
            client = nil
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/web").filter { $0.hasSuffix(".jpg") } == ["b.tall.jpg"])
            #expect(try daemon.list().allSatisfy { $0.state == "done" })
        }
    }
}
