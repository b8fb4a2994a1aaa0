import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Copies of results and originals")
struct GetTests {
    private static let files = [
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n",
        "etc/recipes.d/two.recipe":
            "[Recipe]\nInbox=two\n[Output]\nChain=save\n[Output small]\nChain=resize scale=0.5 | save format=png\n",
        "etc/recipes.d/once.recipe": "[Recipe]\nInbox=once\nOriginal=delete\n[Output]\nChain=save\n",
    ]

    private func get(_ daemon: DaemonFixture, _ words: String...) async throws -> Outcome {
        try await Programs.run("pipectl", ["--root", daemon.root.path, "get"] + words)
    }

    @Test("results and the original are copied whole under their names, and nothing is overwritten")
    func copies() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.small, as: "album/a.png", inbox: "inbox/two")
            try await daemon.waitForAll()
            let folder = daemon.path("mine")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            #expect(try await get(daemon, "1", "-o", folder).status == 0)
            #expect(try daemon.data("mine/a.jpg") == daemon.data("outbox/two/album/a.jpg"))
            #expect(try await get(daemon, "1", "--result", "2", "-o", folder).status == 0)
            #expect(try daemon.data("mine/a.small.png") == daemon.data("outbox/two/album/a.small.png"))
            let original = try await get(daemon, "1", "--original", "-o", daemon.path("mine/b.png"))
            #expect(original.status == 0, "\(original)")
            #expect(try daemon.data("mine/b.png") == Picture.small)
            let again = try await get(daemon, "1", "--original", "-o", daemon.path("mine/b.png"))
            #expect(again.status == 1 && again.errors.contains("b.png: File exists"), "\(again)")
            #expect(Set(daemon.files(in: "mine")) == ["a.jpg", "a.small.png", "b.png"])
            let json = try await get(daemon, "1", "--json", "-o", daemon.path("mine/c.jpg"))
            #expect(json.output.contains("\"bytes\":\(try daemon.data("mine/a.jpg").count)"), "\(json.output)")
            let long = String(repeating: "x", count: 246)
            try daemon.drop(Picture.small, as: "\(long).png", inbox: "inbox/once")
            try await daemon.waitForAll()
            let named = try await get(daemon, "2", "-o", folder)
            #expect(named.status == 0 && daemon.exists("mine/\(long).jpg"), "\(named)")
            let third = try await get(daemon, "1", "--result", "3", "-o", "-")
            #expect(third.status == 1 && third.errors.contains("job 1, which is done, has 2 results"), "\(third)")
            for number in [0, -1, .min, .max] {
                #expect(throws: ControlError.self) {
                    try daemon.call(Call.Open(id: 1, result: number))
                }
            }
            #expect(try await get(daemon, "7", "-o", "-").errors.contains("no job 7"))
        }
    }

    @Test("A file that was changed or has vanished since its publication is refused with a reason")
    func changed() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/two")
            try daemon.drop(Picture.small, as: "b.png", inbox: "inbox/once")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            let (two, once) = (
                try #require(jobs.first { $0.recipe == "two" }).id, try #require(jobs.first { $0.recipe == "once" }).id
            )
            let deleted = try await get(daemon, "\(once)", "--original", "-o", "-")
            #expect(deleted.status == 1 && deleted.errors.contains("was removed when the job was done"), "\(deleted)")

            // A user who may write to the outbox puts a link there, to make the daemon read another user's secret.
            let result = daemon.path("outbox/two/a.jpg")
            try FileManager.default.removeItem(atPath: result)
            try FileManager.default.createSymbolicLink(atPath: result, withDestinationPath: daemon.path("state/id"))
            let link = try await get(daemon, "\(two)", "-o", "-")
            #expect(link.status == 1 && link.output.isEmpty && link.errors.contains("a.jpg can't be opened"), "\(link)")
            try FileManager.default.removeItem(atPath: result)
            try FileManager.default.linkItem(atPath: daemon.path("state/id"), toPath: result)
            let other = try await get(daemon, "\(two)", "-o", "-")
            #expect(
                other.status == 1 && other.output.isEmpty && other.errors.contains("somebody has changed it"),
                "\(other)")
            try FileManager.default.removeItem(atPath: result)
            let gone = try await get(daemon, "\(two)", "-o", "-")
            #expect(gone.status == 1 && gone.errors.contains("a.jpg is not there any more"), "\(gone)")

            let original = try #require(try daemon.call(Call.Show(id: two)).story.original)
            try FileManager.default.removeItem(atPath: original)
            try Data("another".utf8).write(to: URL(fileURLWithPath: original))
            let replaced = try await get(daemon, "\(two)", "--original", "-o", "-")
            #expect(replaced.status == 1 && replaced.errors.contains("is not the original of job"), "\(replaced)")
        }
    }

    @Test("list shows older jobs page by page")
    func pages() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            for number in 1...5 { try daemon.drop(Picture.small, as: "\(number).png", inbox: "inbox/two") }
            try await daemon.job("5.png", becomes: "queued")
            while try daemon.list().count < 5 { await Look.again() }
            func page(_ before: Int?) throws -> [Int] {
                try daemon.call(Call.List(states: [], limit: 2, before: before)).jobs.map(\.id)
            }
            #expect(try page(nil) == [4, 5] && page(4) == [2, 3] && page(2) == [1] && page(1) == [])
        }
    }
}
