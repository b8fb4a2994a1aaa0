import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Jobs that depend on others")
struct DependencyTests {
    private static let one = ["etc/pipelined.conf": "[Queues]\nRender=1\n"]

    /// Adds a picture; returns its job from the reply.
    private func add(_ daemon: DaemonFixture, _ name: String, _ options: String...) async throws -> Control.Job {
        try daemon.write(Picture.small, to: "mine/\(name)")
        let outcome = try await Programs.run(
            "pipectl", ["--root", daemon.root.path, "add", daemon.path("mine/\(name)"), "--json"] + options)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Control.Job.self, from: Data(outcome.output.utf8))
    }

    private func drop(_ daemon: DaemonFixture, _ names: String...) async throws -> [Int] {
        var ids: [Int] = []
        for name in names {
            try daemon.drop(as: name)
            ids.append(try await daemon.job(name, becomes: "queued"))
        }
        return ids
    }

    /// Returns the IDs of the jobs in the order in which they began, once job `last` is done.
    private func begun(_ daemon: DaemonFixture, until last: Int) async throws -> [Int] {
        try await daemon.events(since: 0) { $0.job?.id == last && $0.job?.state == "done" && $0.kind == "job" }
            .filter { $0.kind == "job" && $0.job?.state == "running" }.compactMap(\.job?.id)
    }

    @Test("URLs and lists can depend on jobs like files: nothing is requested before those jobs are done")
    func urls() async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        let files = ["etc/pipelined.conf": "[Download]\nAllowPrivateHosts=127.0.0.1\n"]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            let first = try await add(daemon, "first.png")
            try daemon.write("\(server.url("/a.png"))\nnonsense\n", to: "list.urls")
            let added = try await daemon.pipectl(
                "add", server.url("/b.png"), daemon.path("list.urls"), "--after", "\(first.id)")
            // The exit status is 1, because one line of the list is not a URL.
            #expect(added.status == 1, "\(added.errors)")
            let reason = "after job \(first.id)"
            #expect(try daemon.list().map { $0.reason ?? $0.state } == ["queued", reason, reason, "failed"])
            let unknown = try await daemon.pipectl("add", server.url("/c.png"), "--after", "99")
            #expect(unknown.status == 4)
            #expect(try daemon.list().count == 4)
            #expect(server.seen.requests.isEmpty)

            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "2"))
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done", "done", "failed"])
            #expect(Set(server.seen.requests.map(\.path)) == ["/a.png", "/b.png"])

            _ = try daemon.call(Call.Pause(queue: "render"))
            let second = try await add(daemon, "second.png")
            let strict = try await daemon.pipectl("add", server.url("/d.png"), "--after", "\(second.id)", "--json")
            let lax = try await daemon.pipectl(
                "add", server.url("/e.png"), "--after", "\(second.id)", "--anyway", "--json")
            _ = try daemon.call(Call.Cancel(ids: [second.id]))
            _ = try daemon.call(Call.Resume())
            let ids = try (strict.objects() + lax.objects()).compactMap { $0["id"] as? Int }
            #expect(try await daemon.wait(ids).sorted { $0.id < $1.id }.map(\.state) == ["failed", "done"])
        }
    }

    @Test("a job waits for its dependencies, says so, and begins when the last of them is done")
    func waits() async throws {
        try await DaemonFixture.with(Self.one) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            let ids = try await drop(daemon, "1.png", "2.png", "3.png")
            let added = try await add(daemon, "late.png", "--after", "\(ids[0])", "#\(ids[1]),\(ids[2])")
            #expect(added.state == "waiting")
            #expect(added.reason == "after job 1 and 2 more")
            #expect(try await daemon.pipectl("depend", "1", "--after", "3").status == 0)
            #expect(try daemon.status().jobs.waiting == 2)
            let story = try daemon.call(Call.Show(id: 3)).story
            #expect(story.followers.jobs.map(\.id) == [1, 4] && story.followers.count == 2)
            let page = try await daemon.pipectl("show", "4")
            #expect(page.output.contains("#1 waiting, #2 queued, #3 queued"))
            #expect(page.output.contains("after job 1 and 2 more"))
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            #expect(try await begun(daemon, until: 4) == [2, 3, 1, 4])
        }
    }

    @Test("dependencies survive a restart, and a crash before the other jobs are done")
    func restart() async throws {
        try await DaemonFixture.with(Self.one) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            let ids = try await drop(daemon, "1.png", "2.png")
            _ = try daemon.call(Call.Depend(id: ids[0], after: [ids[1]]))
            await daemon.stop(SIGKILL)
            try await daemon.start()
            #expect(try daemon.list().map(\.reason) == ["after job 2", "paused"])
            await daemon.stop()
            // Change the ledger to the state that it had right after the end of job 2 was recorded.
            try await daemon.ledger("UPDATE jobs SET state = 'done', finished = 1, disposed = 1 WHERE id = 2")
            try await daemon.start()
            _ = try daemon.call(Call.Resume())
            #expect(try await daemon.wait([1]).map(\.state) == ["done"])
        }
    }

    @Test("cycles and dependencies on itself, on unknown or on started jobs are refused with the reason")
    func refused() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            _ = try await drop(daemon, "1.png", "2.png", "3.png")
            #expect(try await daemon.pipectl("depend", "2", "--after", "1").status == 0)
            #expect(try await daemon.pipectl("depend", "3", "--after", "2").output.contains("after job 2"))
            let circle = try await daemon.pipectl("depend", "1", "--after", "3")
            #expect(circle.status == 1)
            #expect(circle.errors.contains("#1 → #3 → #2 → #1"))
            #expect(try await daemon.pipectl("depend", "1", "--after", "1").errors.contains("#1 → #1"))
            #expect(try await daemon.pipectl("depend", "1", "--after", "99").status == 4)
            #expect(try await daemon.pipectl("depend", "99", "--after", "1").status == 4)
            #expect(try await daemon.pipectl("depend", "1").status == 2)
            #expect(try await daemon.pipectl("depend", "1", "--remove", "2").errors.contains("does not come after"))
            try daemon.write(Picture.small, to: "mine/4.png")
            #expect(try await daemon.pipectl("add", daemon.path("mine/4.png"), "--after", "99").status == 4)
            #expect(daemon.files(in: "state/spool") == [])
            // The refused call has not changed the job's place in the queue.
            #expect(try daemon.list().map(\.state) == ["queued", "waiting", "waiting"])
            #expect(try await daemon.pipectl("depend", "3", "--remove", "2").status == 0)
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done", "done"])
            #expect(try await daemon.pipectl("depend", "3", "--after", "1").errors.contains("job 3 is done"))
        }
    }

    @Test("when a job fails or is cancelled, its dependents fail with that reason, and their originals go to failed/")
    func failing() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try daemon.drop(Data("no picture".utf8), as: "text.png")
            let text = try await daemon.job("text.png", becomes: "queued")
            let ids = try await drop(daemon, "2.png", "3.png", "4.png", "5.png")
            _ = try daemon.call(Call.Depend(id: ids[0], after: [text]))
            _ = try daemon.call(Call.Depend(id: ids[1], after: [ids[0]]))
            _ = try daemon.call(Call.Depend(id: ids[2], after: [text], anyway: true))
            #expect(try daemon.call(Call.Cancel(ids: [ids[3]])).jobs.map(\.state) == ["cancelled"])
            let late = try await daemon.pipectl("depend", "\(ids[2])", "--after", "\(ids[3])")
            #expect(late.status == 0, "it runs anyway")
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "auto"))
            // A client that waits for the dependent is told the reason as well.
            let ended = try await daemon.wait([ids[1]])
            #expect(ended.map(\.error) == ["job 2, which it comes after, failed"])
            #expect(ended.map(\.failure) == ["dependency"])
            #expect(try await daemon.pipectl("show", "2").output.contains("dependency: a job before it has failed"))
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["failed", "failed", "failed", "done", "cancelled"])
            let over = try await daemon.pipectl("add", daemon.path("failed/noir/text.png"), "--after", "\(ids[3])")
            #expect(over.status == 1 && over.errors.contains("was cancelled"))
            await daemon.stop()
            #expect(try daemon.text("failed/noir/2.png.error.txt").contains("job 1, which it comes after, failed"))
            #expect(daemon.files(in: "failed").filter { $0.hasSuffix(".png") }.count == 3)
        }
    }

    @Test(
        "a retry of a dependent alone is refused while its dependency has failed; a retry of both succeeds in order")
    func retry() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            let ids = try await drop(daemon, "1.png", "2.png")
            _ = try daemon.call(Call.Depend(id: ids[1], after: [ids[0]]))
            _ = try daemon.call(Call.Cancel(ids: [ids[0]]))
            try await daemon.job("2.png", becomes: "failed")
            let alone = try await daemon.pipectl("retry", "2")
            #expect(alone.status == 1)
            #expect(alone.errors.contains("job 2 comes after job 1, which was cancelled"))
            #expect(try await daemon.pipectl("retry", "1", "2").status == 0)
            #expect(try daemon.list().map(\.reason) == ["paused", "after job 1"])
            #expect(try daemon.status().jobs.waiting == 2)
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done"])
        }
    }

    @Test("cancel-all cancels jobs that wait for others, even while those others are in the window")
    func cancelAll() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            _ = try await drop(daemon, "1.png", "2.png", "3.png")
            _ = try daemon.call(Call.Depend(id: 2, after: [1]))
            _ = try daemon.call(Call.Depend(id: 3, after: [2]))
            #expect(try daemon.call(Call.CancelAll()).cancelled == 3)
            #expect(try daemon.list().map(\.state) == ["cancelled", "cancelled", "cancelled"])
        }
    }
}
