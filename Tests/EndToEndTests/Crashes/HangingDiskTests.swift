import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Disks that do not answer", .enabled(if: FaultyDisk.isPermitted, FaultyDisk.absence))
struct HangingDiskTests {
    private static let files = [
        "etc/recipes.d/card.recipe": "[Recipe]\nInbox=card\n[Output]\nChain=resize scale=0.5\n",
        "etc/pipelined.conf": "[Daemon]\nHangTimeout=1s\n", "inbox/card/.keep": "",
    ]

    /// Runs `body` with a daemon that has not been started yet and that has a separate disk at `place`.
    private static func with(
        _ place: String, _ body: (_ daemon: DaemonFixture, _ disk: FaultyDisk) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(files, started: false) { daemon in
            try await FaultyDisk.with(path(daemon, place)) { disk in try await body(daemon, disk) }
        }
    }

    /// Returns the path without touching the disk, unlike the fixture's method.
    private static func path(_ daemon: DaemonFixture, _ place: String) -> String { "\(daemon.root.path)/\(place)" }

    private static func problems(_ daemon: DaemonFixture, of place: String) throws -> [String] {
        try daemon.status().problems.filter { $0.contains("\(path(daemon, place)) does not answer") }
    }

    private static func results(_ disk: FaultyDisk) -> [String] {
        disk.files(in: ".").filter { $0.hasSuffix(".jpg") && !$0.hasPrefix(".") }
    }

    @Test(
        "an outbox that hangs in a call holds only its own recipe, is named in the status, and recovers by itself",
        arguments: ["getattr", "create", "mkdir", "open", "fsync", "fsyncdir", "rename", "statfs", "opendir"])
    func running(call: String) async throws {
        try await Self.with("outbox/card") { daemon, disk in
            try await daemon.start()
            try disk.hang(call)
            try daemon.drop(as: "stuck.png", inbox: "inbox/card")
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            // Publishing does not check the free space of the disk, so the job succeeds.
            if call == "statfs" {
                try await daemon.job("stuck.png", becomes: "done")
            } else {
                try await daemon.says("does not answer")
                #expect(try Self.problems(daemon, of: "outbox/card").count == 1)
                try daemon.drop(as: "more.png")
                try await daemon.job("more.png", becomes: "done")
            }
            try disk.clear()
            try await daemon.waitForAll()
            #expect(Self.results(disk) == ["stuck.jpg"])
            #expect(try Self.problems(daemon, of: "outbox/card") == [])
        }
    }

    @Test("a stop does not wait for a hanging disk: the log names unfinished work; the next start moves the original")
    func stopping() async throws {
        try await Self.with("archive/card") { daemon, disk in
            try daemon.write("[Daemon]\nDrainTimeout=0\nCancelGrace=0\n", to: "etc/pipelined.conf")
            try await daemon.start()
            try disk.hang("create")
            try daemon.drop(as: "a.png", inbox: "inbox/card")
            try await disk.meets()
            try await daemon.job("a.png", becomes: "done")
            #expect(kill(daemon.process, SIGTERM) == 0)
            try await daemon.says("stopping: originals can't be moved; the next start moves them")
            try disk.clear()
            await daemon.stop(0)
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(disk.files(in: ".").contains("a.png"))
        }
    }

    @Test(
        "a start does not wait for a hanging outbox: an interrupted publication is finished when the outbox answers",
        arguments: ["getattr", "open", "opendir", "readdir", "rename", "fsyncdir", "statfs"])
    func starting(call: String) async throws {
        try await Self.with("outbox/card") { daemon, disk in
            try await daemon.start()
            try disk.hang("rename")
            try daemon.drop(as: "stuck.png", inbox: "inbox/card")
            try await disk.meets()
            // A killed process exits only once its pending calls have returned.
            kill(daemon.process, SIGKILL)
            try disk.clear()
            await daemon.stop(0)

            try disk.hang(call)
            try daemon.drop(as: "next.png", inbox: "inbox/card")
            try await daemon.start()
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            if ["getattr", "opendir", "readdir"].contains(call) {
                try await daemon.says("does not answer")
                #expect(try Self.problems(daemon, of: "outbox/card").count == 1)
                let waiting = try daemon.list(["waiting"])
                #expect(waiting.contains { $0.input == "stuck.png" })
                #expect(waiting.allSatisfy { $0.reason == "\(Self.path(daemon, "outbox/card")) does not answer" })
            }
            try disk.clear()
            try await daemon.waitForAll()
            #expect(Self.results(disk) == ["next.jpg", "stuck.jpg"])
            #expect(try daemon.list().allSatisfy { $0.state == "done" })
            #expect(disk.files(in: ".staging") == [])
        }
    }

    @Test("clients that need a hanging disk use few threads and a bounded queue, and other clients are served")
    func looks() async throws {
        try await Self.with("archive") { daemon, disk in
            try await daemon.start()
            try daemon.drop(as: "one.png")
            let id = try await daemon.job("one.png", becomes: "done")
            try await daemon.waitForAll()
            try disk.hang("getattr")
            func shows(_ count: Int) throws -> [RawClient] {
                try (0..<count).map { _ in
                    let client = try RawClient(daemon)
                    try client.send(RawClient.call("Show", "{\"id\":\(id)}"))
                    return client
                }
            }
            // The disk's lane serves 4 requests and queues 64, so the daemon must refuse one of these 69.
            var clients = try shows(4 + 64 + 1)
            let refused = clients.remove(at: try Self.answered(of: clients))
            let refusal = try #require(try refused.answer())
            let why = (refusal["parameters"] as? [String: Any])?["message"] as? String
            #expect(why?.contains("64 requests wait for it already; ask again later") == true)
            #expect(try daemon.blockedThreads <= 5)
            try daemon.drop(as: "beside.png")
            try await daemon.event { $0.kind == "published" && $0.job?.input == "beside.png" }
            let place = Self.path(daemon, "archive")
            while try !daemon.status().problems.contains(where: { $0.hasPrefix("the disk at \(place)") }) {
                await Look.again()
            }

            // When clients disconnect, their requests leave the queue.
            let descriptors = daemon.heldDescriptors
            clients.removeLast(60)
            while daemon.heldDescriptors > descriptors - 50 { await Look.again() }
            try disk.clear()
            for client in clients { #expect(try client.answer()?.error == nil) }
            try await daemon.waitForAll()
        }
    }

    /// Returns the index of the first client that gets a reply.
    private static func answered(of clients: [RawClient]) throws -> Int {
        var sockets = clients.map { pollfd(fd: $0.socket.number, events: Int16(POLLIN), revents: 0) }
        try #require(poll(&sockets, nfds_t(sockets.count), 60_000) > 0)
        return try #require(sockets.firstIndex { $0.revents != 0 })
    }
}
