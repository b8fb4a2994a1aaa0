import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Notifications to the service manager")
struct ServiceTests {
    private static func with(
        _ files: [String: String] = [:], _ variables: [String: String] = [:],
        _ body: (DaemonFixture, DatagramSocket) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(files, started: false) { daemon in
            let manager = try DatagramSocket(daemon.path("notify"))
            let variables = variables.merging(["NOTIFY_SOCKET": manager.path]) { $1 }
            try daemon.launch(under: ServiceEnvironment.variables(variables))
            try await body(daemon, manager)
        }
    }

    @Test("when the daemon reports that it is ready, its inboxes are watched and its workers answer")
    func ready() async throws {
        try await Self.with { daemon, manager in
            try await manager.until("READY=1")
            let status = try daemon.status()
            #expect(status.inboxes.map(\.watch) == ["inotify"])
            #expect(status.workers > 0)
            try daemon.drop(as: "sunset.png")
            try await daemon.job("sunset.png", becomes: "done")
        }
    }

    @Test(
        "an inbox that does not answer delays readiness only for a while, and does not stop the work",
        .enabled(if: Mount.isPermitted, "only root may mount"))
    func hangingInbox() async throws {
        let files = [
            "etc/recipes.d/far.recipe": "[Recipe]\nInbox=far\n[Output]\nChain=noir\n",
            "etc/pipelined.conf": "[Daemon]\nHangTimeout=1s\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            let manager = try DatagramSocket(daemon.path("notify"))
            let server = try HangingMount(daemon.path("inbox/far"))
            defer { server.end() }
            try daemon.launch(under: ServiceEnvironment.variables(["NOTIFY_SOCKET": manager.path]))
            try await manager.until("READY=1")
            try await daemon.says("inbox/far does not answer")
            try daemon.drop(as: "sunset.png")
            try await daemon.job("sunset.png", becomes: "done")
            #expect(daemon.files(in: "outbox") == ["noir/sunset.jpg"])
        }
    }

    @Test("the status line says what waits and why, and how much has failed today")
    func status() async throws {
        try await Self.with { daemon, manager in
            try await manager.until("READY=1")
            try await manager.until("STATUS=nothing to do")
            _ = try daemon.call(Call.Pause(reason: "printing posters"))
            try daemon.drop(as: "sunset.png")
            try await manager.until("STATUS=1 waiting; 1 waits: paused: printing posters")
            _ = try daemon.call(Call.Resume())
            try daemon.drop(Data("no picture".utf8), as: "broken.png")
            try await manager.until("STATUS=nothing to do, 1 failed today")
            #expect(try daemon.list().map(\.state) == ["done", "failed"])
        }
    }

    @Test(
        "after repeated crashes the daemon announces a delay before its start; after a stop it starts at once")
    func comeback() async throws {
        try await Self.with { daemon, manager in
            let environment = ServiceEnvironment.variables(["NOTIFY_SOCKET": manager.path])
            try await manager.until("READY=1")
            for crashes in 1...2 {
                await daemon.stop(SIGKILL)
                let before = manager.messages.count
                try await daemon.start(under: environment)
                let line = "STATUS=it has ended unexpectedly 2 times in a row, and begins in 1s"
                #expect(manager.messages.dropFirst(before).contains(line) == (crashes == 2))
            }
            await daemon.stop()
            #expect(!daemon.exists("state/comeback"))
            let before = manager.messages.count
            try await daemon.start(under: environment)
            #expect(!manager.messages.dropFirst(before).contains { $0.contains("in a row") })
        }
    }

    @Test("a reload, by signal or by pipectl, begins with RELOADING and the time, and ends with READY")
    func reload() async throws {
        try await Self.with { daemon, manager in
            try await manager.until("READY=1")
            for bySignal in [true, false] {
                let before = manager.messages.count
                if bySignal { kill(daemon.process, SIGHUP) } else { _ = try daemon.call(Call.Reload()) }
                try await manager.until("READY=1", after: before)
                let told = manager.messages.dropFirst(before).filter { !$0.hasPrefix("STATUS") }
                #expect(told.first?.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=\d+/) != nil, "\(told)")
                #expect(told.dropFirst().first == "READY=1", "\(told)")
            }
        }
    }

    @Test("a reload with invalid settings keeps the old ones, and the status line says so until a reload succeeds")
    func wrongReload() async throws {
        let good = "[Queues]\nRender=3\n"
        try await Self.with(["etc/pipelined.conf": good]) { daemon, manager in
            try await manager.until("READY=1")
            try daemon.write("[Queues]\nRender=many\n", to: "etc/pipelined.conf")
            kill(daemon.process, SIGHUP)
            let problem =
                "the reload failed, and the previous configuration is in force: \(daemon.path("etc/pipelined.conf")):2:"
            try await manager.until(problem)
            try await daemon.says("nothing was changed by the reload")
            #expect(try daemon.status().queues["render"]?.effective == 3)
            #expect(try daemon.status().problems.contains { $0.hasPrefix(problem) })
            let before = manager.messages.count
            try daemon.write("[Queues]\nRender=2\n", to: "etc/pipelined.conf")
            kill(daemon.process, SIGHUP)
            try await manager.until("STATUS=nothing to do", after: before)
            #expect(try daemon.status().queues["render"]?.effective == 2)
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("a stop is announced with its time limit")
    func stopping() async throws {
        try await Self.with(["etc/pipelined.conf": "[Daemon]\nDrainTimeout=10min\n"]) { daemon, manager in
            try await manager.until("READY=1")
            #expect(await daemon.stop() == 0)
            let told = try #require(manager.messages.first { $0.hasPrefix("STOPPING=1") })
            let time = try #require(told.firstMatch(of: /EXTEND_TIMEOUT_USEC=(\d+)/).flatMap { Int($0.1) })
            #expect(time > 600_000_000)
        }
    }

    @Test("the watchdog is pinged at its interval, even while everything is paused")
    func watchdog() async throws {
        try await Self.with([:], ["WATCHDOG_USEC": "100000"]) { daemon, manager in
            try await manager.until("READY=1")
            _ = try daemon.call(Call.Pause())
            let before = manager.messages.count
            try await manager.until { $0.dropFirst(before).count { $0 == "WATCHDOG=1" } >= 5 }
            #expect(try daemon.status().queues["render"]?.paused == true)
        }
    }

    @Test(
        "without a watchdog no pings are sent, and without a manager nothing is sent at all"
    )
    func unasked() async throws {
        try await Self.with { daemon, manager in
            try await manager.until("READY=1")
            try daemon.drop(as: "sunset.png")
            try await daemon.job("sunset.png", becomes: "done")
            await daemon.stop()
            #expect(!manager.messages.contains("WATCHDOG=1"))
            let told = manager.messages.count
            try await daemon.start()
            await daemon.stop()
            #expect(manager.messages.count == told)
        }
    }
}
