import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite(
    "Hooks, recipes and settings of other users",
    .enabled(if: Nobody.canOwnFiles, "only root may give files away"))
struct StrangersFilesTests {
    @Test("a hook that others may change is not run while pictures go on, and runs again once that is fixed")
    func hook() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let hook = daemon.path("hook")
            try daemon.write("#!/bin/sh\necho run >> \(daemon.path("given"))\n", to: "hook")
            try #require(chmod(hook, 0o755) == 0 && chown(hook, Nobody.number, 0) == 0)
            try daemon.write("[Recipe]\nHook=\(hook)\n[Output]\nChain=save\n", to: "etc/recipes.d/noir.recipe")
            try await daemon.start()
            try await daemon.says("\(hook), is not run: \(hook) belongs to nobody; give it to root")
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            try await daemon.says("the hook of 'noir', \(hook), is not run")
            #expect(!daemon.exists("given"))
            let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(check.status == 78 && check.errors.contains("\(hook), is not run"), "\(check)")
            #expect(check.output.hasPrefix("The configuration is right, but for the hook that is not run: 1 recipe"))
            try #require(chown(hook, 0, 0) == 0)
            #expect(try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"]).status == 0)
            try daemon.drop(as: "b.png")
            try await daemon.has("given")
        }
    }

    @Test(
        "a recipe that others may change is not read, and reload and start report it",
        arguments: ["recipe", "conf"])
    func configuration(kind: String) async throws {
        let file = kind == "recipe" ? "etc/recipes.d/theirs.recipe" : "etc/pipelined.conf.d/theirs.conf"
        try await DaemonFixture.with { daemon in
            try daemon.write(
                kind == "recipe" ? "[Recipe]\nInbox=theirs\n[Output]\nChain=save\n" : "[Queues]\nRender=1\n", to: file)
            let path = daemon.path(file)
            try #require(chown(path, Nobody.number, 0) == 0)
            let reload = try await daemon.pipectl("reload")
            #expect(reload.status != 0)
            #expect(reload.errors.contains("is not read: \(path) belongs to nobody"), "\(reload.errors)")
            let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(check.status == 78 && check.errors.contains("belongs to nobody"), "\(check)")
            try #require(chown(path, 0, 0) == 0)
            #expect(try await daemon.pipectl("reload").status == 0)
        }
    }

    @Test(
        "--check as root judges files as the user who owns the daemon's folder",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func checkByRoot() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let (hook, check) = (daemon.path("hook"), ["--root", daemon.root.path, "--check"])
            try daemon.write("#!/bin/sh\n", to: "hook")
            try daemon.write("[Recipe]\nHook=\(hook)\n[Output]\nChain=save\n", to: "etc/recipes.d/noir.recipe")
            try #require(chmod(hook, 0o700) == 0)
            #expect(try await Programs.run("pipelined", check).status == 0)
            try #require(chown(daemon.root.path, Nobody.number, 0) == 0)
            let refused = try await Programs.run("pipelined", check)
            let reason = "\(hook) can't be run by user nobody: Permission denied"
            #expect(refused.status == 78 && refused.errors.contains(reason), "\(refused)")
            try #require(chmod(hook, 0o755) == 0)
            let right = try await Programs.run("pipelined", check)
            #expect(right.status == 0 && right.output.hasSuffix("Files were checked as the user nobody.\n"), "\(right)")
        }
    }
}
