import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Name templates of recipes, in the outbox")
struct NameTests {
    private func recipe(_ name: String, _ more: String = "", outputs: String = "[Output]\nChain=save format=png")
        -> String
    {
        "[Recipe]\nInbox=web\nName=\(name)\n\(more)\n\(outputs)\n"
    }

    @Test("results are sorted by their EXIF date, or else the file's date, and the story says which")
    func dates() async throws {
        let files = ["etc/recipes.d/web.recipe": recipe("{album}/{date:%Y/%m}/{stem}")]
        try await DaemonFixture.with(files) { daemon in
            let (original, hostile, changed) = ("2019:07:04 10:00:00", "2019:13:04 10:00:00", "2018:02:03 04:05:06")
            try daemon.drop(Picture.dated(original: original, changed: changed), as: "trip/a.tif", inbox: "inbox/web")
            try daemon.drop(Picture.dated(original: hostile, changed: changed), as: "b.tif", inbox: "inbox/web")
            try daemon.drop(
                Picture.dated(original: "../../../../../x", changed: "2019/07/04 10:00"), as: "c.tif", inbox: "held")
            let old = Date(timeIntervalSince1970: 946_728_000)  // noon on the first day of 2000
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: daemon.path("held/c.tif"))
            try FileManager.default.moveItem(atPath: daemon.path("held/c.tif"), toPath: daemon.path("inbox/web/c.tif"))
            try FileManager.default.createDirectory(atPath: daemon.path("held"), withIntermediateDirectories: true)
            let added = daemon.path("held/d.png")
            try Picture.small.write(to: URL(fileURLWithPath: added))
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: added)
            #expect(try await daemon.pipectl("add", "--recipe", "web", added).status == 0)
            try await daemon.waitForAll()
            #expect(
                daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".") }
                    == ["2000/01/c.png", "2000/01/d.png", "2018/02/b.png", "trip/2019/07/a.png"])
            var told: [String: String] = [:]
            for job in try daemon.list() {
                let publish = try daemon.call(Call.Show(id: job.id)).story.operations.last { $0.queue == "publish" }
                told[job.input] = publish?.detail
            }
            #expect(told["trip/a.tif"] == "dated 2019-07-04 10:00:00, from EXIF's DateTimeOriginal")
            #expect(told["b.tif"] == "dated 2018-02-03 04:05:06, from EXIF's DateTime")
            #expect(told["c.tif"]?.hasPrefix("dated 2000-01-01 ") == true)
            #expect(told["d.png"]?.hasSuffix(", from the file's own time") == true, "\(told)")
        }
    }

    @Test("many concurrent pictures get numbers without gaps, each shared by all results of one picture")
    func counter() async throws {
        let outputs = "[Output]\nChain=save format=png\n[Output b]\nChain=resize scale=0.5 | save format=png"
        let files = ["etc/recipes.d/web.recipe": recipe("{album}/{counter:3}-{output}", outputs: outputs)]
        try await DaemonFixture.with(files) { daemon in
            let count = 40
            for number in 1...count {
                try daemon.drop(as: "\(number % 2 == 0 ? "even" : "odd")/\(number).png", inbox: "inbox/web")
            }
            try await daemon.waitForAll()
            let wanted = ["even", "odd"].flatMap { folder in
                (1...count / 2).flatMap { number in
                    let digits = String(repeating: "0", count: 3 - "\(number)".count) + "\(number)"
                    return ["\(folder)/\(digits)-b.png", "\(folder)/\(digits).png"]
                }
            }
            #expect(daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".") } == wanted)
            for job in try daemon.list() {
                let numbers = job.outputs.map { $0.split(separator: "/").last?.prefix(3) }
                #expect(numbers.count == 2 && numbers[0] == numbers[1], "\(job.outputs)")
            }
        }
    }

    @Test("a name contains the result's size and the hash of its bytes, also behind a barrier")
    func hash() async throws {
        let files = [
            "etc/recipes.d/web.recipe": recipe(
                "{stem}-{width}x{height}.{hash:64}", "",
                outputs: "[Output]\nChain=resize scale=0.5 | barrier | save format=webp")
        ]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "a.png", inbox: "inbox/web")
            try daemon.write(Picture.small, to: "added/b.png")
            try daemon.write(Picture.png(width: 64, height: 10), to: "added/c.png")
            let added = try await daemon.pipectl(
                "add", "--recipe", "web", daemon.path("added/b.png"), daemon.path("added/c.png"))
            #expect(added.status == 0)
            try await daemon.waitForAll()
            let results = daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".") }
            #expect(results.map { $0.prefix { $0 != "." } } == ["a-16x12", "b-16x12", "c-32x5"])
            for result in results {
                let sum = try await Programs.run(path: "/usr/bin/sha256sum", [daemon.path("outbox/web/\(result)")])
                #expect(result.contains(".\(sum.output.prefix(64)).webp"), "\(result): \(sum.output)")
            }
        }
    }

    @Test("names from outside can't leave the outbox")
    func hostile() async throws {
        let files = ["etc/recipes.d/web.recipe": recipe("{album}/{name}")]
        try await DaemonFixture.with(files) { daemon in
            let long = String(repeating: "ü", count: 120)
            let names = ["a\nb.png", "{stem}.png", "x/…/-rf.png", "\(long)/\(long).png"]
            for name in names { try daemon.drop(as: name, inbox: "inbox/web") }
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == names.map { _ in "done" })
            let results = daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".staging") }
            #expect(Set(results) == ["a_b.png", "{stem}.png", "x/…/-rf.png", "\(long)/\(long).png"])
            #expect(daemon.files(in: "outbox").allSatisfy { $0.hasPrefix("web/") })
        }
    }

    @Test("two results with one name are refused before the render, and explain reports them")
    func twins() async throws {
        let outputs = "[Output]\nChain=save format=png\n[Output b]\nName={name}\nChain=save format=png"
        let files = ["etc/recipes.d/web.recipe": recipe("{stem}", "Match=*", outputs: outputs)]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "scan", inbox: "inbox/web")
            try daemon.drop(as: "other.jpg", inbox: "inbox/web")
            try await daemon.event { $0.job?.input == "scan" }
            let why = "the result of [Output] and the result 'b' would both be scan.png"
            let job = try #require(try daemon.list().first { $0.input == "scan" })
            let explained = try daemon.call(Call.Explain(file: daemon.path("inbox/web/scan"))).explanation
            #expect(explained.why.contains(why) && explained.operations.isEmpty, "\(explained)")
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await daemon.waitForAll()
            let story = try daemon.call(Call.Show(id: job.id)).story
            #expect(story.job.state == "failed" && story.job.error?.contains(why) == true)
            #expect(story.advice?.contains("put {output} into Name=") == true)
            #expect(!story.operations.contains { $0.written != nil || $0.worker != nil }, "\(story.operations)")
            #expect(daemon.exists("failed/web/scan"))
            #expect(daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".") } == ["other.jpg.png", "other.png"])
        }
    }

    @Test("explain shows the names of a file's results, and recipes the templates")
    func explained() async throws {
        let outputs = "[Output]\nChain=save format=webp\n[Output thumb]\nChain=resize width=8 | save format=png"
        let files = [
            "etc/recipes.d/web.recipe": recipe("{date}/{album}/{stem}-{output}-{counter:4}.{hash:8}", outputs: outputs)
        ]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(
                Picture.dated(original: "2019:07:04 10:00:00", changed: ""), as: "rome/a.tif", inbox: "inbox/web")
            try await daemon.event { $0.job?.input == "rome/a.tif" }
            let plain = daemon.path("a.tif")
            try Picture.dated(original: "2019:07:04 10:00:00", changed: "").write(to: URL(fileURLWithPath: plain))
            let unknown = try daemon.call(Call.Explain(file: daemon.path("inbox/web/rome/a.tif"))).explanation
            let folder = daemon.path("outbox/web")
            #expect(
                unknown.names.map(\.name) == [
                    "\(folder)/{date:%Y-%m-%d}/rome/a-{counter:4}.{hash:8}.webp",
                    "\(folder)/{date:%Y-%m-%d}/rome/a-thumb-{counter:4}.{hash:8}.png",
                ])
            #expect(unknown.names.map(\.output) == [nil, "thumb"] && unknown.date == nil)
            let shown = try daemon.call(Call.Recipes()).recipes.first { $0.name == "web" }
            #expect(
                shown?.names.map(\.name)
                    == Array(repeating: "{date}/{album}/{stem}-{output}-{counter:4}.{hash:8}", count: 2))
            let text = try await daemon.pipectl("recipes")
            #expect(text.output.contains("{date}/{album}/{stem}"))
            // `explain` also shows the names of results for a recipe without Name=.
            let usual = try await daemon.pipectl("explain", plain)
            #expect(usual.output.contains("result: \(daemon.path("outbox/noir/a.jpg"))"), "\(usual.output)")
        }
    }

    @Test("a reload refuses a mistake with its position, and existing jobs keep their names")
    func reload() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe("old/{stem}")]) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "a.png", inbox: "inbox/web")
            try await daemon.event { $0.job?.input == "a.png" }
            try daemon.write(recipe("{date:%Y}/{sten}"), to: "etc/recipes.d/web.recipe")
            let refused = try await daemon.pipectl("reload")
            #expect(refused.status == 1)
            #expect(
                (refused.output + refused.errors).contains(
                    "web.recipe:3: Name={date:%Y}/{sten} has the unknown field '{sten}' at column 16; did you mean '{stem}'?"
                ))
            try daemon.write(recipe("new/{stem}"), to: "etc/recipes.d/web.recipe")
            #expect(try await daemon.pipectl("reload").status == 0)
            // Kill the daemon. After the restart, it must read the job's old name template from the ledger.
            await daemon.stop(SIGKILL)
            try await daemon.start()
            try daemon.drop(as: "b.png", inbox: "inbox/web")
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".") } == ["new/b.png", "old/a.png"])
        }
    }
}
