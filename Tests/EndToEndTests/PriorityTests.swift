import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("The order in which jobs begin")
struct PriorityTests {
    private static func recipe(_ name: String, _ priority: String) -> (String, String) {
        (
            "etc/recipes.d/\(name).recipe",
            "[Recipe]\nInbox=\(name)\nPriority=\(priority)\n[Output]\nChain=resize scale=0.5\n"
        )
    }

    private static func files(window: Int) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: [
                ("etc/pipelined.conf", "[Queues]\nRender=1\nWindow=\(window)\n"), recipe("soon", "high"),
                recipe("later", "low"),
            ])
    }

    private func drop(_ daemon: DaemonFixture, _ names: [String], inbox: String = "inbox") async throws {
        for name in names {
            try daemon.drop(as: name, inbox: inbox)
            try await daemon.job(name, becomes: "queued")
        }
    }

    /// Waits until all jobs are done; returns their names in the order in which they began.
    private func order(_ daemon: DaemonFixture) async throws -> [String] {
        try await daemon.waitForAll()
        let last = try daemon.status().cursor
        return try await daemon.events(since: 0) { $0.cursor >= last }
            .filter { $0.kind == "job" && $0.job?.state == "running" }.compactMap(\.job?.input)
    }

    @Test(
        "recipes' priorities decide, and then the order of arrival, however small the window is",
        arguments: [1, 2, 3, 1024])
    func recipes(window: Int) async throws {
        try await DaemonFixture.with(Self.files(window: window)) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try await drop(daemon, ["l1.png", "l2.png"], inbox: "inbox/later")
            try await drop(daemon, ["n1.png", "n2.png", "n3.png"])
            try await drop(daemon, ["h1.png", "h2.png"], inbox: "inbox/soon")
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.priority) == ["low", "normal", "high"])
            _ = try daemon.call(Call.Resume())
            let order = try await order(daemon)
            #expect(order == ["h1.png", "h2.png", "n1.png", "n2.png", "n3.png", "l1.png", "l2.png"])
        }
    }

    @Test("recipes take turns, by their Share=, and batches of a recipe take turns, whichever came first")
    func turns() async throws {
        let files = [
            "etc/pipelined.conf": "[Queues]\nRender=1\n",
            "etc/recipes.d/many.recipe": "[Recipe]\n[Output]\nChain=resize scale=0.5\n",
            "etc/recipes.d/twice.recipe": "[Recipe]\nShare=2\n[Output]\nChain=resize scale=0.5\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try await drop(daemon, (1...6).map { "a/\($0).png" }, inbox: "inbox/many")
            try await drop(daemon, ["b/1.png", "b/2.png"], inbox: "inbox/many")
            try await drop(daemon, (1...4).map { "t\($0).png" }, inbox: "inbox/twice")
            try await drop(daemon, ["n1.png", "n2.png"])
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            let order = try await order(daemon)
            func place(_ name: String) throws -> Int { try #require(order.firstIndex(of: name), "\(order)") }
            // While all three recipes have work, `many` gets two of eight turns, `twice` four, and `default` two.
            #expect(
                Set(order.prefix(8)) == [
                    "a/1.png", "b/1.png", "t1.png", "t2.png", "t3.png", "t4.png", "n1.png", "n2.png",
                ])
            #expect(order.suffix(5) == ["a/2.png", "b/2.png", "a/3.png", "a/4.png", "a/5.png", "a/6.png"].suffix(5))
            #expect(try place("a/2.png") < place("b/2.png"))
        }
    }

    @Test("a high-priority job that arrives while the window is full of others begins before them")
    func overtakes() async throws {
        try await DaemonFixture.with(Self.files(window: 8)) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            let others = (1...12).map { String(format: "n%02d.png", $0) }
            try await drop(daemon, others)
            try await drop(daemon, ["h1.png", "h2.png", "h3.png"], inbox: "inbox/soon")
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            #expect(try await order(daemon) == ["h1.png", "h2.png", "h3.png"] + others)
        }
    }

    @Test(
        "a priority can be changed in and outside the window, and changed back, and then the job has its place again"
    )
    func changed() async throws {
        try await DaemonFixture.with(Self.files(window: 4)) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try await drop(daemon, (1...8).map { "\($0).png" })
            let outcome = try await daemon.pipectl("priority", "3", "7", "#2", "high")
            #expect(outcome.output == "3 jobs with priority high\n", "\(outcome.errors)")
            #expect(try await daemon.pipectl("priority", "2", "normal").status == 0)
            #expect(try await daemon.pipectl("priority", "1", "low", "--json").output.contains("\"changed\" : 1"))
            #expect(try daemon.call(Call.Show(id: 3)).story.priority == "high")
            #expect(try await daemon.pipectl("priority", "1", "hihg").errors.contains("did you mean 'high'?"))
            #expect(try await daemon.pipectl("priority", "99", "high").status == 4)
            #expect(try await daemon.pipectl("priority", "--batch", "9", "high").errors.contains("no batch '9'"))
            let events = try daemon.call(Call.Watch(cursor: 0)).events.filter { $0.kind == "priority" }
            #expect(
                events.map { "\($0.job?.id ?? 0) \($0.text ?? "") \($0.job?.state ?? "") \($0.job?.reason ?? "")" }
                    == ["2 high queued ", "3 high queued ", "7 high queued ", "2 normal queued ", "1 low queued "])
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            #expect(try await order(daemon) == ["3", "7", "2", "4", "5", "6", "8", "1"].map { "\($0).png" })
            let late = try await daemon.pipectl("priority", "1", "high")
            #expect(late.status == 1 && late.errors.contains("job 1 is done"))
        }
    }

    @Test("an added file can have its own priority, and so can each URL of a list")
    func added() async throws {
        try await DaemonFixture.with(Self.files(window: 1024)) { daemon in
            for queue in ["render", "download"] { _ = try daemon.call(Call.Concurrency(queue: queue, limit: "0")) }
            try await drop(daemon, ["1.png"])
            try daemon.write(Picture.small, to: "mine/a.png")
            let added = try await daemon.pipectl(
                "add", "http://127.0.0.1/b.png", daemon.path("mine/a.png"), "--priority", "high")
            #expect(added.status == 0, "\(added.errors)")
            #expect(
                try (1...3).map { try daemon.call(Call.Show(id: $0)).story.priority } == ["normal", "high", "high"])
            #expect(
                try await daemon.pipectl("add", "a.png", "--priority", "hihg").errors.contains("did you mean 'high'?"))
            let refused = try RawClient(daemon).ask(
                "Add", #"{"name":"a.png","priority":"top"}"#,
                [
                    try Descriptor.open(daemon.path("mine/a.png"), O_RDONLY)
                ])
            #expect(refused.error?.hasSuffix("BadValue") == true)
            _ = try daemon.call(Call.Cancel(ids: [2]))
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            #expect(try await order(daemon) == ["a.png", "1.png"])
        }
    }

    @Test("a batch's jobs get a priority together; a job that loses it returns to its old place among its equals")
    func batch() async throws {
        try await DaemonFixture.with(Self.files(window: 1024)) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            try await drop(daemon, ["1.png", "2.png", "3.png"])
            for name in ["a.png", "b.png"] { try daemon.write(Picture.small, to: "mine/\(name)") }
            let added = try await daemon.pipectl("add", daemon.path("mine/a.png"), daemon.path("mine/b.png"))
            #expect(added.status == 0, "\(added.errors)")
            #expect(try await daemon.pipectl("priority", "--batch", "1", "high").output.hasPrefix("2 jobs"))
            _ = try daemon.call(Call.Depend(id: 1, after: [4]))
            #expect(try daemon.call(Call.Depend(id: 1, remove: [4])).job.state == "queued")
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            #expect(try await order(daemon) == ["a.png", "b.png", "1.png", "2.png", "3.png"])
        }
    }
}
