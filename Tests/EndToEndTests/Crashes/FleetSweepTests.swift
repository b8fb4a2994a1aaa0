import Foundation
import Glibc
import PipelineControl
import Synchronization
import TestTools
import Testing

/// The part of the fleet that fails while a picture is lent.
enum FleetLoss: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case server
    /// The server is stopped and replaced by a newer version.
    case upgrade
    /// One server of three, or all of them, is killed.
    case oneServer, allServers
    case origin, originsProcess, originsCable
    case node, nodesProcess, nodesCable

    var testDescription: String { rawValue }

    /// The losses that a short run tests. After these losses, a test does not have to wait for the node timeout.
    static let some: [FleetLoss] = [.server, .oneServer, .origin]

    fileprivate var isOfThree: Bool { [.oneServer, .allServers].contains(self) }
}

/// A step in lending a picture, recognised by the text of the node's message to the server.
enum FleetStep: String, CaseIterable, Sendable {
    case asked = "PUB take."
    case taken = "{\"word\":\"yes\"}"
    case fetched = "origin.a.read"
    case brought = "origin.a.write"
    case done = "origin.a.done"
}

@Suite(
    "A part of the fleet is lost at each step of a lent picture",
    .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetSweepTests {
    private static let atOnce = 6

    @Test("every picture is published once and whole, its original is archived, and no node keeps anything")
    func sweep() async throws {
        try await withTemporaryFolder { folder in
            // Rendering must take longer than lending; otherwise the first node renders all pictures itself.
            let plugin = "\(folder)/naps.so"
            try Plugin(name: "naps", body: "usleep(100000); return vips_copy(in, out, NULL);").compile(to: plugin)
            // The runs are concurrent, because their nodes mostly wait for each other.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, loss) in Sweep.of(FleetLoss.some, all: FleetLoss.allCases).enumerated() {
                    // Limit the number of concurrent runs: each has three daemons and up to three servers.
                    if number >= Self.atOnce { try await group.next() }
                    let place = "\(folder)/\(loss.rawValue)"
                    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                    group.addTask { try await SweptFleet.lose(loss, plugin, in: place) }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// Three daemons, each connected to each server by a `Cable`. Daemon `a` renders one picture at a time, the others two.
private struct SweptFleet {
    private static let batch = Sweep.of(8, all: 33)

    let loss: FleetLoss
    let servers: [NATSServer]
    let a: DaemonFixture
    let b: DaemonFixture
    let c: DaemonFixture
    /// The cables of each node, in the same order as `servers`.
    let cables: [String: [Cable]]

    static func lose(_ loss: FleetLoss, _ plugin: String, in folder: String) async throws {
        let servers =
            loss.isOfThree
            ? try await NATSServer.cluster(of: 3, in: folder)
            : [try await NATSServer(in: folder)]
        let cables = try ["a", "b", "c"].reduce(into: [:]) { cables, name in
            cables[name] = try servers.map { try Cable(to: $0.port) }
        }
        func with(_ name: String, _ body: (DaemonFixture) async throws -> Void) async throws {
            try await DaemonFixture.with(
                [
                    "etc/pipelined.conf": """
                    [Queues]
                    Render=\(name == "a" ? 1 : 2)
                    [Inbox]
                    Settle=1ms
                    [Fleet]
                    Servers=\((cables[name] ?? []).map { "nats://127.0.0.1:\($0.port)" }.joined(separator: " "))
                    Name=\(name)
                    Give=always
                    """,
                    "etc/recipes.d/far.recipe": "[Output]\nChain=naps | resize scale=0.5\n",
                ], started: false
            ) { daemon in
                try daemon.write(try Data(contentsOf: URL(fileURLWithPath: plugin)), to: "plugins/naps.so")
                try await daemon.start()
                try await body(daemon)
            }
        }
        try await with("a") { a in
            try await with("b") { b in
                try await with("c") { c in
                    let fleet = SweptFleet(loss: loss, servers: servers, a: a, b: b, c: c, cables: cables)
                    try await fleet.sweep()
                }
            }
        }
    }

    private func sweep() async throws {
        let steps = Sweep.of([FleetStep.fetched, .done], all: FleetStep.allCases)
        var names: [String] = []
        for step in steps { names += try await lose(at: step) }
        try await knows(2)
        #expect(a.files(in: "outbox").filter { !$0.contains(".staging") } == names.map { "far/\($0).jpg" }.sorted())
        for name in names {
            let size = Picture.jpegSize(try a.data("outbox/far/\(name).jpg"))
            #expect(size?.width == 16 && size?.height == 12, "\(name)")
        }
        let accounts = try await Accounts(a, inboxes: ["inbox/far"])
        #expect(accounts.remains == [], "\(loss)")
        #expect(accounts.files.keys.count { $0.hasPrefix("archive/") } == names.count)
        let ends = try await a.ledger("SELECT count(*) FROM jobs WHERE state = 'done' AND disposed")
        #expect(ends == ["\(names.count)"])
        for node in [b, c] {
            while try node.status().fleet?.taken != 0 { await Look.again() }
            #expect(try node.list().isEmpty && node.files(in: "outbox") == [])
        }
        print("\(loss.rawValue): lost at \(steps.count) steps, \(names.count) pictures")
    }

    /// Drops pictures until one reaches the step, and causes the loss at that moment. Then waits until all pictures are
    /// done.
    private func lose(at step: FleetStep) async throws -> [String] {
        try await knows(2)
        let wire = Wire()
        // Each cable leads to one server. For a loss of one server, the test kills the server of the cable that trips
        // first.
        for (index, cable) in (cables[step == .asked ? "a" : "b"] ?? []).enumerated() {
            let strike = try blow(at: loss == .allServers ? servers : [servers[index]])
            cable.trip(on: step.rawValue) { wire.trip(by: index, strike) }
        }
        var names: [String] = []
        while !wire.isTripped {
            let more = (1...Self.batch).map { "\(step)-\(names.count + $0)" }
            names += more
            for name in more { try a.drop(as: "\(name).png", inbox: "inbox/far") }
            while !wire.isTripped, !(try published(names)) { await Look.again() }
        }
        try await mend(loss == .allServers ? servers : [servers[try #require(wire.tripped)]])
        while !(try published(names)) {
            guard a.isRunning else { throw Missing("the origin is gone, and not all of its pictures are published") }
            await Look.again()
        }
        if loss == .nodesCable { for cable in cables["b"] ?? [] { cable.mend() } }
        try await a.waitForAll()
        return names
    }

    private func published(_ names: [String]) throws -> Bool {
        names.allSatisfy { a.exists("outbox/far/\($0).jpg") }
    }

    /// Prepares the loss. The returned function causes it.
    private func blow(at servers: [NATSServer]) throws -> @Sendable () -> Void {
        func death(of process: Int32?, _ signal: Int32 = SIGKILL) throws -> @Sendable () -> Void {
            let process = try #require(process)
            return { kill(process, signal) }
        }
        func fleet(_ daemon: DaemonFixture) throws -> Int32? {
            try Children.of(daemon.process, named: "pipelined-fleet").first
        }
        switch loss {
        case .server, .oneServer, .allServers:
            return { [processes = servers.map(\.identifier)] in for process in processes { kill(process, SIGKILL) } }
        case .upgrade: return try death(of: servers[0].identifier, SIGTERM)
        case .origin: return try death(of: a.process)
        case .originsProcess: return try death(of: try fleet(a))
        case .node: return try death(of: b.process)
        case .nodesProcess: return try death(of: try fleet(b))
        case .originsCable: return { [cables = cables["a"] ?? []] in for cable in cables { cable.cut() } }
        case .nodesCable: return { [cables = cables["b"] ?? []] in for cable in cables { cable.cut() } }
        }
    }

    /// Restores the lost part.
    private func mend(_ lost: [NATSServer]) async throws {
        switch loss {
        case .server, .upgrade, .oneServer, .allServers:
            for server in lost {
                await server.kill(0)
                try await server.restart(upgraded: loss == .upgrade)
            }
        case .origin:
            await a.stop(0)
            try await a.start()
        case .node:
            await b.stop(0)
            try await b.start()
        case .originsCable:
            while try a.status().fleet?.server != nil { await Look.again() }
            for cable in cables["a"] ?? [] { cable.mend() }
        // The other nodes finish the pictures without the lost part.
        case .nodesCable, .originsProcess, .nodesProcess: break
        }
    }

    /// Waits until `a` sees this many other nodes that can take pictures.
    private func knows(_ others: Int) async throws {
        while try a.status().fleet?.nodes.count(where: { $0.places > 0 }) != others { await Look.again() }
    }
}

/// A record of the cable that was tripped first. Any thread may use it.
private final class Wire: Sendable {
    private let state = Mutex<Int?>(nil)

    var tripped: Int? { state.withLock { $0 } }
    var isTripped: Bool { tripped != nil }

    /// Calls `body`, unless another cable has been tripped before.
    func trip(by number: Int, _ body: () -> Void) {
        state.withLock { tripped in
            guard tripped == nil else { return }
            body()
            tripped = number
        }
    }
}
