import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Plugins that change while the daemon runs")
struct ReloadTests {
    private static let recipe = [
        "etc/recipes.d/paint.recipe":
            "[Recipe]\nInbox=paint\nOriginal=delete\n[Output]\nChain=paint | save format=png\n"
    ]

    /// Returns a filter that sets every sample to the same value.
    private static func paint(_ value: Int, version: String) -> Plugin {
        Plugin(
            name: "paint", body: "return vips_linear1(in, out, 0, \(value), \"uchar\", TRUE, NULL);",
            changes: ".version = \"\(version)\"")
    }

    private static func makeFolder(_ daemon: DaemonFixture) throws {
        try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
    }

    private static func version(_ daemon: DaemonFixture) throws -> String? {
        try daemon.call(Call.Plugins()).stages.first { $0.name == "paint" }?.version
    }

    private static func reload(_ daemon: DaemonFixture, leavingOut reason: String? = nil) async throws {
        let outcome = try await daemon.pipectl("reload")
        #expect(outcome.output == "configuration and plugins have been read again\n")
        #expect(outcome.status == (reason == nil ? 0 : 1), "\(outcome.errors)")
        if let reason { #expect(outcome.errors.contains(reason), "\(outcome.errors)") }
    }

    @Test("a reload that leaves a plugin out names it with the reason, and so does --check; all else takes effect")
    func leftOut() async throws {
        try await DaemonFixture.with { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            try daemon.write("text", to: "plugins/paint.so")
            try daemon.write("[Output]\nChain=noir\n", to: "etc/recipes.d/late.recipe")
            let reply = try daemon.call(Call.Reload())
            #expect(reply.problems.isEmpty && reply.skipped.map(\.file) == [plugin], "\(reply)")
            #expect(reply.skipped.first?.reason.contains("can't be loaded") == true)
            #expect(try daemon.call(Call.Recipes()).recipes.contains { $0.name == "late" })
            try await Self.reload(daemon, leavingOut: "1 plugin was left out:\n\(plugin): it can't be loaded")
            let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(check.status == 78 && check.errors.contains("plugin \(plugin) is left out: "), "\(check)")
            #expect(
                check.output.hasPrefix("The configuration is right, but for the plugin that is left out: 2 recipes"))
            try FileManager.default.removeItem(atPath: plugin)
            try await Self.reload(daemon)
            #expect(try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"]).status == 0)
        }
    }

    @Test(
        "when versions alternate by cp and mv during reloads under load, each result comes from one version"
    )
    func underLoad() async throws {
        let files = Self.recipe.merging(["etc/pipelined.conf": "[Queues]\nRender=2\n"]) { $1 }
        try await DaemonFixture.with(files, started: false) { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            for number in 1...2 {
                try Self.paint(number * 80, version: "\(number)").compile(to: daemon.path("\(number).so"))
            }
            try FileManager.default.copyItem(atPath: daemon.path("2.so"), toPath: plugin)
            try await daemon.start()
            let picture = Picture.png(width: 300, height: 200)
            func result(_ name: String) async throws -> Data {
                try daemon.drop(picture, as: "\(name).png", inbox: "inbox/paint")
                try await daemon.job("\(name).png", becomes: "done")
                return try daemon.data("outbox/paint/\(name).png")
            }
            let second = try await result("second")
            var dropped = 0
            func drop(_ count: Int) throws {
                for _ in 0..<count {
                    dropped += 1
                    try daemon.drop(picture, as: "\(dropped).png", inbox: "inbox/paint")
                }
            }
            for number in 1...Sweep.of(8, all: 20) {
                let new = number % 2 + 1
                try drop(8)
                if number % 4 < 2 {
                    _ = try await Programs.run(path: "/bin/cp", [daemon.path("\(new).so"), plugin])
                } else {
                    _ = try await Programs.run(path: "/bin/cp", [daemon.path("\(new).so"), daemon.path("next.so")])
                    _ = try await Programs.run(path: "/bin/mv", [daemon.path("next.so"), plugin])
                }
                try drop(4)
                try await Self.reload(daemon)
                #expect(try Self.version(daemon) == "\(new)")
            }
            let first = try await result("first")
            #expect(first != second)
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == dropped + 2)
            for id in 1...dropped + 2 { #expect(try daemon.call(Call.Show(id: id)).story.tries == 1) }
            for number in 1...dropped {
                #expect([first, second].contains(try daemon.data("outbox/paint/\(number).png")))
            }
            // The copied plugins of earlier reloads have been removed, so a single folder of copies is left.
            #expect(Set(daemon.files(in: "state/plugins").map { $0.split(separator: "/")[0] }).count == 1)
        }
    }

    @Test(
        "a new version that does not load leaves the old one in use, with a message, even after a restart",
        arguments: [
            ("raise(SIGSEGV);", "Segmentation fault"), ("exit(3);", "3"), (".abi = 9", "version 9"),
            ("text", "can't be loaded"),
        ])
    func doesNotLoad(broken: String, reason: String) async throws {
        try await DaemonFixture.with(Self.recipe, started: false) { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            try Self.paint(80, version: "1").compile(to: plugin)
            try await daemon.start()
            switch broken {
            case "text": try Data("text".utf8).write(to: URL(fileURLWithPath: plugin))
            case ".abi = 9":
                try Plugin(name: "paint", body: "return 0;", changes: broken).compile(to: plugin)
            default:
                try Plugin(name: "paint", body: "return 0;", loading: broken).compile(to: plugin)
            }
            for start in 0...1 {
                if start == 1 {
                    await daemon.stop()
                    try await daemon.start()
                }
                try await Self.reload(daemon, leavingOut: reason)
                let stage = try #require(try daemon.call(Call.Plugins()).stages.first { $0.name == "paint" })
                #expect(stage.version == "1" && stage.state == "older" && stage.reason?.contains(reason) == true)
                let skipped = try daemon.call(Call.Plugins()).skipped
                #expect(skipped.map(\.file) == [plugin])
                #expect(skipped.first?.reason.contains(reason) == true, "\(skipped)")
                #expect(skipped.first?.reason.hasSuffix("; its previous version stays in use") == true)
                try await daemon.says("plugin \(plugin) is left out: ")
                try daemon.drop(as: "\(start).png", inbox: "inbox/paint")
                try await daemon.job("\(start).png", becomes: "done")
            }
            try Self.paint(160, version: "2").compile(to: plugin)
            try await Self.reload(daemon)
            #expect(try Self.version(daemon) == "2")
            #expect(try daemon.call(Call.Plugins()).skipped.isEmpty)
        }
    }

    @Test(
        "a plugin that crashes or hangs while it loads is left out by name, and the daemon starts",
        arguments: [("abort();", "Aborted"), ("for (;;) pause();", "did not start within PluginTimeout=3s")])
    func atTheStart(loading: String, reason: String) async throws {
        let files = ["etc/pipelined.conf": "[Daemon]\nPluginTimeout=3s\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            try Plugin(name: "paint", body: "return 0;", loading: loading).compile(to: plugin)
            try Plugin(name: "other", body: "return vips_copy(in, out, NULL);").compile(
                to: daemon.path("plugins/other.so"))
            try await daemon.start()
            let plugins = try daemon.call(Call.Plugins())
            #expect(plugins.skipped.map(\.file) == [plugin])
            #expect(plugins.skipped.first?.reason.contains(reason) == true, "\(plugins.skipped)")
            #expect(plugins.stages.contains { $0.name == "other" && $0.file == daemon.path("plugins/other.so") })
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
        }
    }

    @Test(
        "a file that others can change is not loaded, and the refusal names the rule",
        arguments: [("plugins/paint.so", 0o666), ("plugins", 0o777), ("", 0o777)])
    func untrusted(place: String, mode: mode_t) async throws {
        try await refused(place, mode, "everybody can write")
    }

    @Test(
        "a file that a group with other members can change is not loaded either",
        .enabled(if: getuid() == 0, "only root may give a file to any group"))
    func groupWritable() async throws {
        try await refused("plugins/paint.so", 0o664, group: 65_000, "a group can write")
    }

    /// Checks that the mode of `place` keeps a plugin from being loaded, and that the plugin is loaded once the mode is
    /// fixed.
    private func refused(_ place: String, _ mode: mode_t, group: gid_t? = nil, _ rule: String) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            try Self.paint(80, version: "1").compile(to: plugin)
            let path = place.isEmpty ? daemon.root.path : daemon.path(place)
            if let group { try #require(chown(path, 0, group) == 0) }
            try #require(chmod(path, mode) == 0)
            try await daemon.start()
            #expect(try Self.version(daemon) == nil)
            let skipped = try #require(try daemon.call(Call.Plugins()).skipped.first { $0.file == plugin })
            #expect(skipped.reason.hasPrefix("\(rule) \(path); "), "\(skipped)")
            try #require(chmod(path, 0o755) == 0)
            try await Self.reload(daemon)
            #expect(try Self.version(daemon) == "1")
        }
    }

    @Test(
        "neither another user's file nor a link to it is loaded",
        .enabled(if: getuid() == 0, "only root may give a file away"))
    func anothers() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try Self.makeFolder(daemon)
            try Self.paint(80, version: "1").compile(to: daemon.path("plugins/paint.so"))
            try #require(chown(daemon.path("plugins/paint.so"), 65_534, 65_534) == 0)
            try #require(symlink("paint.so", daemon.path("plugins/link.so")) == 0)
            try await daemon.start()
            let skipped = try daemon.call(Call.Plugins()).skipped
            #expect(skipped.map(\.file) == ["link", "paint"].map { daemon.path("plugins/\($0).so") })
            for plugin in skipped {
                #expect(
                    plugin.reason.hasPrefix("\(daemon.path("plugins/paint.so")) belongs to nobody; give it to root"))
            }
        }
    }

    @Test("a filter whose file is gone works until a reload, which is refused if a recipe needs the filter")
    func removed() async throws {
        try await DaemonFixture.with(Self.recipe, started: false) { daemon in
            try Self.makeFolder(daemon)
            let plugin = daemon.path("plugins/paint.so")
            try Self.paint(80, version: "1").compile(to: plugin)
            try await daemon.start()
            try FileManager.default.removeItem(atPath: plugin)
            for worker in try daemon.workers() { kill(worker, SIGKILL) }
            try daemon.drop(as: "a.png", inbox: "inbox/paint")
            try await daemon.job("a.png", becomes: "done")
            let outcome = try await daemon.pipectl("reload")
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("unknown stage 'paint'"), "\(outcome.errors)")
            try daemon.drop(as: "b.png", inbox: "inbox/paint")
            try await daemon.job("b.png", becomes: "done")
            try FileManager.default.removeItem(atPath: daemon.path("etc/recipes.d/paint.recipe"))
            try await Self.reload(daemon)
            #expect(try Self.version(daemon) == nil)
        }
    }
}
