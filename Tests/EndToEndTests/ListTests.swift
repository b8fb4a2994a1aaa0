import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Lists with columns")
struct ListTests {
    private static let files = [
        "etc/pipelined.conf": "[Download]\nAllowPrivateHosts=127.0.0.1\nRetries=0\n",
        "etc/recipes.d/web.recipe": "[Output]\nChain=resize scale=0.5 | save format=webp\n",
    ]

    @Test("a list's name, caption, credit and recipe reach the results, wherever the list comes from", arguments: 0...2)
    func columns(way: Int) async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        try await DaemonFixture.with(Self.files) { daemon in
            let list = """
                url,name,caption,credit,recipe
                \(server.url("/1.png")),lion,"A lion; a „Löwe“, too",Ada Lovelace,web
                \(server.url("/2.png")),,A bear,,
                \(server.url("/3.png")),,,,wbe
                \(server.url("/4.png")),,,,
                """
            switch way {
            case 0: try daemon.drop(Data(list.utf8), as: "monday.csv")
            case 1:
                try daemon.write(list.replacing(",", with: "\t").replacing("“\t too", with: "“, too"), to: "monday.tsv")
                let added = try await daemon.pipectl("add", daemon.path("monday.tsv"))
                #expect(added.status == 1, "\(added)")
            default:
                let pipectl = "'\(Programs.path("pipectl"))' --root '\(daemon.root.path)'"
                let script = "\(pipectl) add - <<'END'\n\(list)\nEND"
                let added = try await Programs.run(path: "/bin/sh", ["-c", script])
                #expect(added.status == 1, "\(added)")
            }
            try await daemon.event { $0.batch != nil && $0.text == "ended" }
            try await daemon.waitForAll()
            let jobs = try daemon.list().filter { $0.batch != nil }
            let names = jobs.map { "\($0.input) \($0.recipe) \($0.state)" }
            let row = "\(["monday.csv", "monday.tsv", "the list"][way]) line 4"
            #expect(names == ["lion.png web done", "2.png noir done", "\(row) noir failed", "4.png noir done"])
            #expect(jobs[2].error == "there is no recipe 'wbe'; did you mean 'web'?")
            #expect(daemon.files(in: "outbox") == ["noir/2.jpg", "noir/4.jpg", "web/lion.webp"])
            let read = try await Programs.run(
                path: "/usr/bin/exiftool",
                ["-json", "-Description", "-Credit", "-Caption-Abstract"]
                    + ["noir/2.jpg", "noir/4.jpg", "web/lion.webp"].map { daemon.path("outbox/\($0)") })
            let json = try JSONSerialization.jsonObject(with: Data(read.output.utf8))
            let tags = try #require(json as? [[String: String]])
            #expect(tags.map { $0["Description"] } == ["A bear", nil, "A lion; a „Löwe“, too"])
            #expect(tags.map { $0["Caption-Abstract"] } == ["A bear", nil, nil])
            #expect(tags.map { $0["Credit"] } == [nil, nil, "Ada Lovelace"])
            let story = try await daemon.pipectl("show", "\(jobs[0].id)")
            #expect(story.output.contains("A lion; a „Löwe“, too") && story.output.contains("Ada Lovelace"))
        }
    }

    @Test("a dropped list with a wrong header fails as a whole, and says which column was meant")
    func header() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Data("url,captoin\nhttp://127.0.0.1:1/a.png,x\n".utf8), as: "monday.csv")
            let id = try await daemon.job("monday.csv", becomes: "failed")
            let job = try #require(try daemon.list().first { $0.id == id })
            #expect(job.error == "the list has an unknown column 'captoin'")
            let explanation = try await daemon.pipectl("show", "\(id)")
            #expect(explanation.output.contains("did you mean 'caption'?"))
        }
    }
}
