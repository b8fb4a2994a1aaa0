import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Clients' queries to a real daemon")
struct ClientViewTests {
    @Test("each reason is reported, a pause keeps its reason, and an output named like its format appears once")
    func reasons() async throws {
        let server = try HTTPServer { request, connection in
            try connection.reply(request.path.hasPrefix("/503") ? 503 : 200, [:], Picture.small)
        }
        let files = [
            "etc/pipelined.conf": "[Daemon]\nRetryDelay=1h\nRetryMost=1h\n[Download]\nAllowPrivateHosts=127.0.0.1\n",
            "etc/recipes.d/both.recipe":
                "[Recipe]\nInbox=both\n[Output png]\nChain=save format=png\n[Output jpeg]\nChain=save\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            let list =
                ["/503/1.png", "/503/2.png"].map { server.url($0) } + ["http://no-such-host.invalid/3.png", "no URL"]
            try daemon.write(list.joined(separator: "\n"), to: "some.urls")
            let added = try await daemon.pipectl("add", daemon.path("some.urls"))
            #expect(added.status == 1)
            #expect(added.lines.last == "batch 1: 4 jobs")
            for number in 1...3 { try await daemon.job("\(number).png", becomes: "waiting") }
            func reasons(_ waiting: [Control.Waiting]) -> [String] {
                waiting.map {
                    "\($0.jobs) \($0.reason.contains("503") ? "503" : $0.reason.contains("resolve") ? "host" : $0.reason)"
                }
            }
            #expect(reasons(try daemon.status().waiting) == ["2 503", "1 host"])
            #expect(reasons(try daemon.call(Call.WhyWaiting(ids: [1, 3])).waiting).sorted() == ["1 503", "1 host"])

            for reason in ["the CPU is needed", nil] { _ = try daemon.call(Call.Pause(reason: reason)) }
            try daemon.drop(as: "x.png", inbox: "inbox/both")
            try await daemon.event { $0.job?.input == "x.png" }
            let paused = "paused: the CPU is needed"
            #expect(reasons(try daemon.status().waiting) == ["2 503", "1 \(paused)", "1 host"])
            #expect(reasons(try daemon.call(Call.WhyWaiting(batch: 1)).waiting) == ["2 503", "1 host"])
            let id = try #require(try daemon.list().last?.id)
            #expect(reasons(try daemon.call(Call.WhyWaiting(ids: [id])).waiting) == ["1 \(paused)"])
            await daemon.stop()
            try await daemon.start()
            #expect(try daemon.status().queues["render"]?.reason == "the CPU is needed")
            _ = try daemon.call(Call.Resume())
            try await daemon.job("x.png", becomes: "done")
            #expect(daemon.files(in: "outbox/both") == ["x.jpg", "x.png"])
            #expect(
                daemon.log.split(separator: "\n").allSatisfy {
                    $0.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d .*/) != nil
                })
        }
    }

    @Test("an unknown name is refused with a hint, and every ignored file is listed")
    func ignored() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            for number in 1...120 { try daemon.write("x", to: "inbox/\(1000 + number).txt") }
            try daemon.write("x", to: "inbox/a.jp2")
            try await daemon.start()
            try await daemon.waitForAll()
            let told = try await daemon.pipectl("ignored", "--json").objects()
            #expect(
                told.map { $0["path"] as? String } == (1...120).map { daemon.path("inbox/\(1000 + $0).txt") } + [
                    daemon.path("inbox/a.jp2")
                ])
            #expect((told.last?["reason"] as? String)?.contains("JPEG 2000 picture (.jp2) is not read") == true)
            let behind = try daemon.call(Call.ListIgnored(recipe: "noir", after: daemon.path("inbox/1119.txt"))).ignored
            #expect(behind.map(\.path) == [daemon.path("inbox/1120.txt"), daemon.path("inbox/a.jp2")])
            let page = try await daemon.pipectl("status")
            #expect(
                page.lines.contains { $0.hasPrefix("\(daemon.path("inbox/1001.txt")) and 119 more  recipe 'noir'") })
            #expect(page.lines.contains { $0.hasPrefix(daemon.path("inbox/a.jp2")) })
            #expect(page.lines.last == "`pipectl ignored` lists them all")

            let recipe = try await daemon.pipectl("list", "--recipe", "nori")
            #expect(recipe.status == 2 && recipe.errors.contains("did you mean 'noir'?"))
            let batch = try await daemon.pipectl("list", "--batch", "9")
            #expect(batch.status == 2)
            #expect(batch.errors.contains("there is no batch '9'; `pipectl batches` lists them"))
        }
    }

    @Test(
        "a monitor without access to the socket reports that the check can't be made",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func withoutRight() async throws {
        try await DaemonFixture.with { daemon in
            let check = [Programs.path("pipectl"), "--root", daemon.root.path, "status", "--check"]
            #expect(try await Programs.run(path: check[0], Array(check.dropFirst())).status == 0)
            let refused = try await Programs.run(path: Nobody.wrapper[0], Nobody.wrapper.dropFirst() + check)
            let words = "pipelined UNKNOWN: you may not use the socket"
            #expect(refused.status == 3 && refused.output.hasPrefix(words), "\(refused)")
        }
    }
}
