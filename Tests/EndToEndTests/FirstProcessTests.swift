import Foundation
import PipelineControl
import TestTools
import Testing

@Suite(
    "The first process of a container",
    .enabled(if: Mount.isPermitted, "only root may make a space of process numbers"))
struct FirstProcessTests {
    /// A wrapper that runs the daemon as process 1 of its own PID namespace. `unshare` exits with the daemon's status.
    private static let alone = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

    @Test("it reaps processes that hooks leave behind, and stops at once and cleanly on SIGTERM")
    func orphans() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let hook = daemon.path("hook")
            // The hook exits, and leaves a background process that waits until it may continue.
            let script = "#!/bin/sh\ncd \(daemon.root.path)\ncat >/dev/null\n(read line <gate; : >passed) >&- 2>&- &\n"
            try daemon.write(script, to: "hook")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            try daemon.write("[Recipe]\nHook=\(hook)\n[Output]\nChain=noir\n", to: "etc/recipes.d/noir.recipe")
            try #require(mkfifo(daemon.path("gate"), 0o600) == 0)
            try await daemon.start(under: Self.alone)
            let first = try #require(children(of: daemon.process).first)
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "done")
            await until { children(of: first).count == 2 }
            try FileHandle(forWritingTo: URL(fileURLWithPath: daemon.path("gate"))).write(contentsOf: Data("go\n".utf8))
            try await daemon.has("passed")
            await until { children(of: first).count == 1 }

            kill(first, SIGTERM)
            try await daemon.says(" stopped")
            #expect(await daemon.stop(SIGCONT) == 0)
        }
    }

    @Test("it exits as the daemon does, even when the daemon is killed")
    func status() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: Self.alone)
            let first = try #require(children(of: daemon.process).first)
            kill(try #require(children(of: first).first), SIGKILL)
            #expect(await daemon.stop(SIGCONT) == 128 + SIGKILL)
            try daemon.write("[Queues]\nRender=many\n", to: "etc/pipelined.conf")
            try FileManager.default.removeItem(atPath: daemon.path("state/last-good.json"))
            try daemon.launch(under: Self.alone)
            #expect(await daemon.stop(SIGCONT) == 78)
        }
    }

    private func children(of process: Int32) -> [Int32] { (try? Children.of(process)) ?? [] }

    private func until(_ condition: () -> Bool) async {
        while !condition() { await Look.again() }
    }
}
