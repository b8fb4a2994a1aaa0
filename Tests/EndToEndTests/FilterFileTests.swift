import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Files of filters in the recipes' folder")
struct FilterFileTests {
    /// Returns a colour table that turns every colour into this grey.
    private static func cube(_ grey: Double) -> String {
        "LUT_1D_SIZE 2\n" + String(repeating: "\(grey) \(grey) \(grey)\n", count: 2)
    }

    private static let recipe = "[Recipe]\nOriginal=delete\n[Output]\nChain=lut file=look.cube | save format=png\n"

    private static let files = ["etc/recipes.d/look.recipe": recipe, "etc/recipes.d/look.cube": cube(0.25)]

    private func result(_ daemon: DaemonFixture, _ name: String) async throws -> Data {
        try daemon.drop(as: "\(name).png", inbox: "inbox/look")
        try await daemon.job("\(name).png", becomes: "done")
        return try daemon.data("outbox/look/\(name).png")
    }

    @Test("a recipe's file is used, and another content of it comes into force at a reload")
    func changed() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let first = try await result(daemon, "one")
            try daemon.write(Self.cube(0.75), to: "etc/recipes.d/look.cube")
            #expect(try await result(daemon, "two") == first)
            #expect(try await daemon.pipectl("reload", "--check").status == 0)
            #expect(try await result(daemon, "three") == first)
            #expect(try await daemon.pipectl("reload").status == 0)
            #expect(try await result(daemon, "four") != first)
            try daemon.write(Self.cube(0.25), to: "etc/recipes.d/look.cube")
            _ = try daemon.call(Call.Reload())
            #expect(try await result(daemon, "five") == first)
        }
    }

    @Test("a job keeps the file with which it came; if that is gone after a restart, the job says so")
    func kept() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let first = try await result(daemon, "one")
            _ = try await daemon.pipectl("pause", "render")
            try daemon.drop(as: "two.png", inbox: "inbox/look")
            try await daemon.job("two.png", becomes: "queued")
            try daemon.write(Self.cube(0.75), to: "etc/recipes.d/look.cube")
            _ = try daemon.call(Call.Reload())
            _ = try await daemon.pipectl("resume", "render")
            try await daemon.job("two.png", becomes: "done")
            #expect(try daemon.data("outbox/look/two.png") == first)
            _ = try await daemon.pipectl("pause", "render")
            try daemon.drop(as: "three.png", inbox: "inbox/look")
            try await daemon.job("three.png", becomes: "queued")
            try daemon.write(Self.cube(0.25), to: "etc/recipes.d/look.cube")
            await daemon.stop()
            try await daemon.start()
            _ = try await daemon.pipectl("resume", "render")
            let failed = try await daemon.job("three.png", becomes: "failed")
            let story = try await daemon.pipectl("show", "\(failed)").output
            #expect(story.contains("the file 'look.cube' has changed since the job was added"), "\(story)")
            #expect(try await result(daemon, "four") == first)
        }
    }

    @Test("a chain may name the folder's files in add, try and explain, and completion knows them")
    func chains() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.write(Picture.small, to: "mine/a.png")
            let added = try await daemon.pipectl(
                "add", "--wait", daemon.path("mine/a.png"), "--chain", "lut file=look.cube | save format=png")
            #expect(added.status == 0, "\(added)")
            let explained = try await daemon.pipectl("explain", "lut file=look.cube | noir")
            #expect(explained.status == 0 && explained.output.contains("lut"), "\(explained)")
            let unknown = try await daemon.pipectl("explain", "lut file=other.cube | noir")
            #expect(unknown.errors.contains("file=other.cube names no file that the daemon has read"), "\(unknown)")
            let lut = try #require(try daemon.call(Call.Plugins()).stages.first { $0.name == "lut" })
            let parameter = try #require(lut.parameters.first { $0.name == "file" })
            #expect(parameter.type == "file" && parameter.choices == ["look.cube"])
        }
    }

    @Test("a file that is missing, or that others may change, is a mistake of its recipe, and a reload changes nothing")
    func refused() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let first = try await result(daemon, "one")
            let file = daemon.path("etc/recipes.d/look.cube")
            chmod(file, 0o666)
            let open = try await daemon.pipectl("reload")
            #expect(open.status != 0 && open.errors.contains("everybody can write \(file)"), "\(open)")
            #expect(open.errors.contains("look.recipe:4: file=look.cube can't be used: "), "\(open)")
            try FileManager.default.removeItem(atPath: file)
            let missing = try await daemon.pipectl("reload", "--check")
            #expect(missing.errors.contains("file=look.cube names no file that the daemon has read"), "\(missing)")
            #expect(missing.errors.contains("put it into \(daemon.path("etc/recipes.d"))"), "\(missing)")
            #expect(try await result(daemon, "two") == first)
        }
    }

    @Test("FilterFiles= limits all files together")
    func limit() async throws {
        var files = Self.files
        files["etc/recipes.d/more.cube"] = Self.cube(0.5)
        let sizes = (Self.cube(0.25).utf8.count, Self.cube(0.5).utf8.count)
        files["etc/pipelined.conf"] = "[Daemon]\nFilterFiles=\(sizes.0 + sizes.1)\n"
        try await DaemonFixture.with(files) { daemon in
            #expect(try await daemon.pipectl("reload").status == 0)
            let chain = "lut file=more.cube | noir"
            #expect(try await daemon.pipectl("explain", chain).status == 0)
            try daemon.write("[Daemon]\nFilterFiles=\(sizes.0 + sizes.1 - 1)\n", to: "etc/pipelined.conf")
            _ = try daemon.call(Call.Reload())
            let refused = try await daemon.pipectl("explain", chain)
            #expect(refused.errors.contains("would be larger than FilterFiles= allows"), "\(refused)")
            _ = try await result(daemon, "one")
        }
    }

    @Test(
        "a node that lacks a file's content gets no picture that needs it",
        .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
    func fleet() async throws {
        try await FleetPair.with { pair in
            let recipe = "[Output]\nChain=lut file=look.cube | save format=png\n"
            try pair.a.write(recipe, to: "etc/recipes.d/look.recipe")
            try pair.a.write(Self.cube(0.25), to: "etc/recipes.d/look.cube")
            try pair.b.write(Self.cube(0.5), to: "etc/recipes.d/look.cube")
            for node in [pair.b, pair.a] { _ = try node.call(Call.Reload()) }
            while try pair.a.status().fleet?.nodes.first?.lacks != ["look.cube"] { await Look.again() }
            try await pair.fill()
            try pair.a.drop(as: "one.png", inbox: "inbox/far")
            try await pair.a.job("one.png", becomes: "done")
            try pair.a.drop(as: "two.png", inbox: "inbox/look")
            try await pair.a.job("two.png", becomes: "queued")
            #expect(try pair.a.status().fleet?.lent == 0)
            try pair.b.write(Self.cube(0.25), to: "etc/recipes.d/look.cube")
            _ = try pair.b.call(Call.Reload())
            try await pair.a.job("two.png", becomes: "done")
            #expect(try pair.a.data("outbox/look/two.png").count > 50)
        }
    }
}
