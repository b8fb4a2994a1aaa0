import DaemonRuntime
import Foundation
import Glibc
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("The fleet's process")
struct FleetPoolTests {
    /// Returns a fleet process that says hello and runs `atLend` when it gets a picture to lend.
    private static func program(_ atLend: String) -> String {
        """
        #!/usr/bin/python3
        import json, os, signal, socket
        channel = socket.socket(fileno=3)
        def say(message): channel.send(json.dumps(message).encode())
        node = {"name": "b", "version": "\(Release.version)", "places": 1, "taken": 0, "lent": 0, "filters": {}}
        say({"hello": {"version": "", "missing": []}})
        say({"line": {"server": "nats://a"}})
        say({"node": {"_0": node, "isSilent": False}})
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, 131072, 8)
            if not message: break
            if "lend" in json.loads(message): \(atLend)
        """
    }

    /// Lends a picture to such a process, and cancels the picture afterwards if `cancelled` is true. Returns the
    /// outcome.
    private func fate(_ atLend: String, cancelled: Bool, silence: Duration = .seconds(3600)) async throws -> String {
        try await withTemporaryFolder { folder in
            let program = "\(folder)/fleet"
            try Data(Self.program(atLend).utf8).write(to: URL(fileURLWithPath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let (events, event) = AsyncStream<String>.makeStream()
            let membership = FleetMembership(servers: [], name: "a")
            let file = try Descriptor.open("/dev/null", O_RDWR)
            var settings = FleetSettings()
            settings.give = .always
            let task = RenderTask(
                .init(
                    name: "a.jpg", outputs: [RenderOutput(name: nil, stages: [Stage(name: "save", arguments: [:])])]),
                limits: .init(Settings(), onTruncated: .fail, raw: .preview),
                files: .init(from: [file], into: [file]),
                terms: .init(
                    lending: Lending(priority: .normal, bytes: .sources([1]), lent: { _ in }, downloaded: { _ in })),
                done: { event.yield("\($0)") })
            let (pool, owner) = Coordination.sync { [settings] in
                let pool = FleetPool(longestSilence: silence) { program }
                let owner = LendingOwner(pool, task, cancels: cancelled) { event.yield("home") }
                pool.join(FleetPlan(membership, credentials: [], settings, isConfined: false))
                return (pool, owner)
            }
            defer { Coordination.sync { withExtendedLifetime(owner) { pool.stop {} } } }
            for await event in events { return event }
            return ""
        }
    }

    @Test(
        "a hung process blocks no cancel: it is killed after the grace period, and its lent pictures are cancelled",
        arguments: ["pass", "os.kill(os.getpid(), signal.SIGSTOP)"])
    func cancelled(atLend: String) async throws {
        #expect(try await fate(atLend, cancelled: true).contains("cancelled"))
    }

    @Test(
        "a hung process's pictures are rendered locally", arguments: ["pass", "os.kill(os.getpid(), signal.SIGSTOP)"])
    func silent(atLend: String) async throws {
        #expect(try await fate(atLend, cancelled: false, silence: .milliseconds(500)) == "home")
    }
}

/// A lender of one task. It lends the task as soon as the pool has room, and reports when the pool gives it back.
@Coordination
private final class LendingOwner: FleetPoolDelegate, FleetLender {
    private let pool: FleetPool
    private let task: RenderTask
    private let cancels: Bool
    private let cameHome: () -> Void

    init(_ pool: FleetPool, _ task: RenderTask, cancels: Bool, _ cameHome: @escaping () -> Void) {
        (self.pool, self.task, self.cancels, self.cameHome) = (pool, task, cancels, cameHome)
        pool.delegate = self
        pool.lender = self
    }

    let spareSlots = 0

    func roomChanged() {
        guard pool.hasRoom, mayLend else { return }
        Coordination.async { [self] in
            guard mayLend else { return }
            pool.lend(task)
            task.cancelled = cancels
            if cancels { _ = pool.cancel(task) }
        }
    }

    private var mayLend: Bool { !task.cancelled && pool.lentCount == 0 && task.lentFirst == nil }

    func takeHome(_ task: RenderTask) { cameHome() }
    func offered(_ id: Int, _ picture: LentPicture, from origin: String) {}
    func fetched(_ id: Int) {}
    func left(_ id: Int) {}
    func leftAll() {}
    func commanded(
        _ command: NodeCommand, by node: String, done: @escaping @Coordination @Sendable (NodeReport) -> Void
    ) {}
}
