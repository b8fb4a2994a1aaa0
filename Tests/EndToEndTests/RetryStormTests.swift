import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Many clients bring back and cancel the same jobs")
struct RetryStormTests {
    private static let names = (1...5).map { "\($0).png" }

    private static let files = [
        "etc/recipes.d/kept.recipe": "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=save format=png\n",
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Download]\nAllowPrivateHosts=127.0.0.1\n",
    ]

    /// Creates twenty jobs that wait to be rendered. There are five of each origin: claimed, kept in place, added and
    /// downloaded.
    private static func enter(_ daemon: DaemonFixture, _ server: HTTPServer) async throws {
        _ = try daemon.call(Call.Pause(queue: "render"))
        for name in names {
            try daemon.drop(as: "album/\(name)")
            try daemon.drop(as: name, inbox: "inbox/kept")
            try daemon.write(Picture.small, to: "outside/\(name)")
            #expect(try await daemon.pipectl("add", daemon.path("outside/\(name)")).status == 0)
            #expect(try await daemon.pipectl("add", server.url("/\(name)")).status == 0)
        }
        while try !hasAll(daemon) { await Look.again() }
        try check(daemon)
    }

    private static func hasAll(_ daemon: DaemonFixture) throws -> Bool {
        let queue = try #require(try daemon.status().queues["download"])
        return try daemon.list().count == 20 && queue.running + queue.waiting == 0
    }

    /// Lets sixteen clients make calls, each on its own connection. Returns false if the daemon has died.
    private static func storm(on socket: String, rounds: Int) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.detachNewThread {
                            let client = try? ControlClient(path: socket)
                            continuation.resume(
                                returning: (0..<rounds).allSatisfy { ask(client, number, $0) })
                        }
                    }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private static func ask(_ client: ControlClient?, _ number: Int, _ round: Int) -> Bool {
        guard let client else { return false }
        let job = (round * 7 + number * 3) % 20 + 1
        do {
            switch (number % 8, round % 5) {
            case (0, _), (2, 0...2): _ = try client.call(Call.Retry(states: ["cancelled", "failed"]))
            case (1, 0): _ = try client.call(Call.CancelAll())
            case (1, 1): _ = try client.call(Call.CancelMatching(recipe: "noir"))
            case (2, _), (4, _), (6, _): _ = try client.call(Call.Retry(ids: [job]))
            default: _ = try client.call(Call.Cancel(ids: [job]))
            }
        } catch is ControlError {
            // The daemon refuses the call if another client was faster.
        } catch {
            return false
        }
        return true
    }

    /// Checks that every original is in exactly one place, and that the ledger records this place.
    private static func check(_ daemon: DaemonFixture) throws {
        let claimed = daemon.files(in: "inbox/.pipelined")
        let kept = daemon.files(in: "inbox/kept")
        let (spooled, cancelled) = (daemon.files(in: "state/spool"), daemon.files(in: "cancelled"))
        let all = claimed + kept + spooled + cancelled
        #expect(all.count == 20, "\(all)")
        var originals: Set<String> = []
        for job in try daemon.list() {
            let story = try daemon.call(Call.Show(id: job.id)).story
            originals.insert(try #require(story.original, "job \(job.id), \(job.state)"))
        }
        #expect(originals.count == 20)
        #expect(daemon.files(in: "failed") == [])
    }

    /// Brings all jobs back, and waits until they are done.
    private static func finish(_ daemon: DaemonFixture) async throws {
        _ = try daemon.call(Call.CancelAll())
        try await daemon.waitForAll()
        try check(daemon)
        #expect(try daemon.call(Call.Retry(states: ["cancelled"])).retried == Array(1...20))
        try check(daemon)
        _ = try daemon.call(Call.Resume())
        try await daemon.waitForAll()
        #expect(try daemon.list().map(\.state) == Array(repeating: "done", count: 20))
        await daemon.stop()
        // Both the added and the downloaded pictures have these names.
        let numbered = names.map { $0.replacingOccurrences(of: ".png", with: "-1.png") }
        let archived = (names + numbered + names.map { "album/\($0)" }).sorted()
        #expect(daemon.files(in: "archive/noir") == archived)
        for folder in ["inbox/.pipelined", "state/spool", "cancelled", "failed"] {
            #expect(daemon.files(in: folder) == [], "\(folder)")
        }
        #expect(daemon.files(in: "inbox/kept") == names)
        #expect(daemon.files(in: "outbox").count == 20)
        #expect(!daemon.log.contains("its original is gone"), "\(daemon.log)")
    }

    private static func server() throws -> HTTPServer {
        try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
    }

    @Test("each original stays in one place, the ledger agrees, and all jobs can be finished")
    func storm() async throws {
        let server = try Self.server()
        try await DaemonFixture.with(Self.files) { daemon in
            try await Self.enter(daemon, server)
            #expect(await Self.storm(on: daemon.path("run/control.sock"), rounds: Sweep.of(40, all: 200)))
            try await Self.finish(daemon)
        }
    }

    @Test("each original stays in one place even when the daemon is killed in between")
    func killed() async throws {
        let server = try Self.server()
        try await DaemonFixture.with(Self.files) { daemon in
            try await Self.enter(daemon, server)
            let socket = daemon.path("run/control.sock")
            for kills in 1...Sweep.of(4, all: 12) {
                async let over = Self.storm(on: socket, rounds: 1000)
                try await daemon.logged { log in
                    log.split(separator: "\n").count { $0.contains("retry of ") } >= kills * 25
                }
                await daemon.stop(SIGKILL)
                _ = await over
                #expect(!daemon.log.contains("its original is gone"), "\(daemon.log)")
                try await daemon.start()
            }
            try await Self.finish(daemon)
        }
    }

    @Test("a start finds originals that are not where their rows say, with a message, and reports missing ones")
    func strayed() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            for name in ["a.png", "b.png", "c.png"] { try daemon.drop(as: name) }
            for id in 1...3 { try await daemon.event { $0.job?.id == id } }
            _ = try daemon.call(Call.CancelAll())
            try await daemon.waitForAll()
            await daemon.stop()
            // Recreate a state that an older version could leave. The claimed path of one original differs from the
            // path in its ledger row, another original is missing, and a third was being brought back.
            let claims = daemon.path("inbox/.pipelined/\(try daemon.text("state/id").split(separator: "\n")[0])")
            for number in 1...2 {
                try FileManager.default.createDirectory(
                    atPath: "\(claims)/\(number)", withIntermediateDirectories: true)
            }
            let names = try await daemon.ledger("SELECT path FROM jobs ORDER BY id")
            try FileManager.default.moveItem(
                atPath: daemon.path("cancelled/noir/\(names[0])"), toPath: "\(claims)/1/\(names[0])")
            try FileManager.default.removeItem(atPath: daemon.path("cancelled/noir/\(names[1])"))
            try FileManager.default.moveItem(
                atPath: daemon.path("cancelled/noir/\(names[2])"), toPath: "\(claims)/2/\(names[2])")
            try await daemon.ledger(
                """
                UPDATE jobs SET disposed = 0, source = '\(claims)/0/' || path WHERE id <= 2;
                UPDATE jobs SET returns = '\(claims)/2/' || path WHERE id = 3
                """)
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(daemon.files(in: "cancelled") == [names[0], names[2]].map { "noir/\($0)" }.sorted())
            #expect(daemon.files(in: "inbox") == [])
            try await daemon.logged { log in
                ["job 1: its original was at", "job 2: its original is gone", "job 3 was being brought back"]
                    .allSatisfy(log.contains)
            }
            #expect(try daemon.call(Call.Retry(ids: [1, 3])).retried == [1, 3])
            let gone = try await daemon.pipectl("retry", "2")
            #expect(gone.status == 1 && gone.errors.contains("No such file"))
        }
    }
}
