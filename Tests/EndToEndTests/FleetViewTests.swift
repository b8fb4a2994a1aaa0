import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("A view of the fleet", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetViewTests {
    @Test("list and show include other nodes' jobs, and fleet counts them, even where Obey=no forbids commands")
    func jobs() async throws {
        try await FleetPair.with { pair in
            let (a, b) = (pair.a, pair.b)
            try b.write("[Fleet]\nObey=no\n", to: "etc/pipelined.conf.d/obey.conf")
            _ = try b.call(Call.Reload())
            for node in [a, b] { try node.drop(as: "one.png", inbox: "inbox/far") }
            for node in [a, b] { try await node.job("one.png", becomes: "done") }
            for number in 1...65 { try b.drop(as: "held-\(number).png", inbox: "inbox/home") }
            while try b.status().jobs.running < 2 || b.list().count < 66 { await Look.again() }

            let every = try await a.pipectl("list", "--fleet", "--done", "--json").objects()
            #expect(every.map { $0["node"] as? String } == ["a", "b"])
            #expect(every.map { $0["input"] as? String } == ["one.png", "one.png"])
            let table = try await a.pipectl("list", "--node", "b", "--running")
            let running = try b.status().jobs.running
            #expect(table.status == 0 && table.lines.count == 1 + running && table.lines[0].hasPrefix("NODE  ID"))
            #expect(table.lines[1].hasPrefix("b "), "\(table.output)")

            let all = try await a.pipectl("list", "--node", "b", "--limit", "100", "--json").objects()
            #expect(all.compactMap { $0["id"] as? Int } == (try b.list().map(\.id)))
            let some = try await a.pipectl("list", "--node", "b")
            #expect(some.lines.count == 52 && some.lines.last?.contains("--limit N shows more") == true)

            let story = try await a.pipectl("show", "1", "--node", "b")
            #expect(story.status == 0 && story.lines[0] == "Job 1 on b  done", "\(story.output)")
            let missing = try await a.pipectl("show", "700", "--node", "b")
            #expect(missing.status == 1 && missing.errors.contains("b: there is no job 700"), "\(missing.errors)")

            let fleet = try await a.pipectl("fleet", "--json")
            #expect(fleet.status == 0)
            let sum = try #require(try fleet.document()["sum"] as? [String: Any])
            #expect(sum["done"] as? Int == 2 && sum["running"] as? Int == running)
            let refused = try await a.pipectl("pause", "--node", "b")
            #expect(refused.status == 1 && refused.output.contains("it accepts no commands of other nodes"))
        }
    }

    @Test("a node that does not answer is named, the others are listed, and the exit code is 1")
    func silent() async throws {
        try await FleetPair.with { pair in
            try pair.a.drop(as: "one.png", inbox: "inbox/far")
            try await pair.a.job("one.png", becomes: "done")
            let processes = try [pair.b.process] + Children.of(pair.b.process, named: "pipelined-fleet")
            for process in processes { kill(process, SIGSTOP) }
            let list = try await pair.a.pipectl("list", "--fleet")
            for process in processes.reversed() { kill(process, SIGCONT) }
            #expect(list.status == 1 && list.errors.contains("b: it does not answer"), "\(list.errors)")
            #expect(list.lines.last?.hasPrefix("a ") == true, "\(list.output)")
        }
    }
}
