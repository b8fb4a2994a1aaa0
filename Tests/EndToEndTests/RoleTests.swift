import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Who may do what, and who did it")
struct RoleTests {
    /// The group that may use the daemon's socket `look.sock`, which accepts only calls that change nothing.
    private static let group = Group.name(getegid())
    private static let files = ["etc/pipelined.conf": "[Control]\nLookGroup=\(group)\n"]

    @Test("the look socket answers calls that look, and refuses every other call with a reason")
    func look() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let socket = daemon.path("run/look.sock")
            let owner = try #require(try FileSystem.status(daemon.path("run/control.sock")))
            let steering = Group.name(owner.group)
            try daemon.drop(as: "a.png")
            try daemon.write(Picture.small, to: "mine/b.png")
            try await daemon.waitForAll()
            for words in [
                ["status"], ["list"], ["show", "1"], ["log", "1"], ["recipes"], ["plugins"], ["wait", "1"],
            ] {
                let outcome = try await Programs.run("pipectl", ["--socket", socket] + words)
                #expect(outcome.status == 0, "\(words): \(outcome)")
            }
            for words in [
                ["cancel-all"], ["pause"], ["add", daemon.path("mine/b.png")], ["retry", "1"], ["reload"],
                ["get", "1"],
                ["undo", "1"], ["concurrency", "2"], ["recipes", "save", "x", "noir"],
            ] {
                let outcome = try await Programs.run("pipectl", ["--socket", socket] + words)
                #expect(outcome.status != 0, "\(words)")
                #expect(
                    outcome.errors.contains("members of the group '\(Self.group)' may look, and "),
                    "\(words): \(outcome)")
                #expect(outcome.errors.contains("goes further: join the group '\(steering)'"), "\(outcome)")
            }
            #expect(try daemon.status().queues.values.allSatisfy { !$0.paused })
        }
    }

    @Test("exactly the calls that change nothing and open no picture are open to those who look")
    func calls() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let methods = ControlInterface.control.description.split(separator: "\n")
                .filter { $0.hasPrefix("method ") }.map { $0.dropFirst(7).prefix { $0 != "(" } }
            var open: Set<String> = []
            for method in methods {
                let answer = try RawClient(daemon, socket: "run/look.sock").ask(String(method), #"{"nonsense":1}"#)
                if !"\(answer)".contains("may look, and") { open.insert(String(method)) }
            }
            #expect(
                open == [
                    "Status", "Metrics", "WhyWaiting", "ListIgnored", "List", "ListIDs", "FindBatch", "Batches", "Show",
                    "Log",
                    "Sift",
                    "Wait", "Watch", "Progress", "Recipes", "Plugins", "Settings",
                ], "\(open.sorted())")
        }
    }

    @Test("a reload opens and closes the look socket, and a stop removes it")
    func reload() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Control]\nLookGroup=\n"]) { daemon in
            #expect(!daemon.exists("run/look.sock"))
            try daemon.write("[Control]\nLookGroup=\(Self.group)\n", to: "etc/pipelined.conf")
            _ = try daemon.call(Call.Reload())
            try await daemon.has("run/look.sock")
            try daemon.write("[Control]\nLookGroup=\n", to: "etc/pipelined.conf")
            _ = try daemon.call(Call.Reload())
            while daemon.exists("run/look.sock") { await Look.again() }
            try daemon.write("[Control]\nLookGroup=\(Self.group)\n", to: "etc/pipelined.conf")
            _ = try daemon.call(Call.Reload())
            try await daemon.has("run/look.sock")
            await daemon.stop()
            #expect(!daemon.exists("run/look.sock"))
        }
    }

    @Test("the log of a job says who dropped, added and cancelled it")
    func names() async throws {
        try await DaemonFixture.with { daemon in
            let user = User.name(geteuid())
            _ = try daemon.call(Call.Pause(queue: "render", reason: "a test"))
            try daemon.drop(as: "dropped.png")
            try daemon.write(Picture.small, to: "mine/added.png")
            _ = try await daemon.pipectl("add", daemon.path("mine/added.png"))
            let dropped = try await daemon.job("dropped.png", becomes: "queued")
            let added = try await daemon.job("added.png", becomes: "queued")
            #expect(try await daemon.pipectl("cancel", "\(dropped)").status == 0)
            #expect(try await daemon.pipectl("cancel-all").status == 0)
            let first = try daemon.call(Call.Log(id: dropped)).events.compactMap(\.text)
            #expect(first.contains("dropped by user \(user)"), "\(first)")
            #expect(first.contains { $0.hasPrefix("by user \(user), process ") }, "\(first)")
            let second = try daemon.call(Call.Log(id: added)).events.compactMap(\.text)
            #expect(second.contains { $0.hasPrefix("added by user \(user), process ") }, "\(second)")
            #expect(second.contains { $0.hasPrefix("by user \(user), process ") }, "\(second)")
            let shown = try await daemon.pipectl("log", "\(dropped)").output
            #expect(
                shown.contains("dropped by user \(user)") && shown.contains("by user \(user), process "), "\(shown)")
        }
    }
}
