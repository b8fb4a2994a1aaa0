import Foundation
import PipelineControl
import TestTools
import Testing

struct StoryTests {
    @Test("each failure of a job is reported with its own reason, even after later retries")
    func reasons() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(Data("no picture".utf8), as: "a.png")
            for (number, next) in [Picture.small.prefix(40), Picture.small].enumerated() {
                try await daemon.waitForAll()
                #expect(try daemon.list().map(\.state) == ["failed"], "\(number)")
                try daemon.write(Data(next), to: "failed/noir/a.png")
                #expect(try daemon.call(Call.Retry(ids: [1])).retried == [1])
            }
            try await daemon.waitForAll()
            let ends = try daemon.call(Call.Log(id: 1)).events.filter { $0.kind == "job" && $0.job?.finished != nil }
            #expect(ends.compactMap(\.job?.state) == ["failed", "failed", "done"])
            let errors = ends.map(\.job?.error)
            #expect(errors[0]?.contains("no picture") == true && errors[1]?.contains("incomplete") == true, "\(errors)")
            #expect(errors[2] == nil && errors[0] == ends[0].text && ends.allSatisfy { $0.advice == nil })
            let page = try await daemon.pipectl("log", "1")
            #expect(errors.compactMap(\.self).allSatisfy { page.output.components(separatedBy: $0).count == 2 })
        }
    }

    @Test("A job's story names metadata that its results lack because their format can't hold it")
    func lacks() async throws {
        let recipe = """
            [Output]
            Chain=save format=png
            [Output web]
            Chain=save format=jpeg
            """
        try await DaemonFixture.with(["etc/recipes.d/noir.recipe": recipe]) { daemon in
            try daemon.write(Picture.small, to: "commented.png")
            let tool = try ChildProcess(
                "/usr/bin/exiftool", ["-q", "-PNG:Comment=by hand", daemon.path("commented.png")])
            #expect(tool.wait().status == 0)
            try daemon.drop(daemon.data("commented.png"), as: "commented.png")
            try daemon.drop(as: "plain.png")
            for (input, isCommented) in [("commented.png", true), ("plain.png", false)] {
                let id = try await daemon.job(input, becomes: "done")
                let story = try daemon.call(Call.Show(id: id)).story
                let detail = try #require(story.operations.first { $0.kind == "render" }?.detail)
                #expect(detail.hasPrefix("web without comments, which jpeg can't hold; png, whole") == isCommented)
                #expect(detail.contains("without") == isCommented, "\(detail)")
                let page = try await daemon.pipectl("show", "\(id)").output
                #expect(page.contains("without comments") == isCommented)
            }
        }
    }

    @Test("An animated PNG's story says that one of its frames was used")
    func frames() async throws {
        try await DaemonFixture.with { daemon in
            let control = Picture.chunk("acTL", [0, 0, 0, 12, 0, 0, 0, 0])
            try daemon.drop(Picture.small.prefix(33) + control + Picture.small.dropFirst(33), as: "move.png")
            let id = try await daemon.job("move.png", becomes: "done")
            let story = try daemon.call(Call.Show(id: id)).story
            #expect(story.header?.hasSuffix(", the first of its 12 frames") == true, "\(story.header ?? "")")
            #expect(try await daemon.pipectl("list").output.contains("(1 of 12 frames)"))
        }
    }

    @Test("A job's story and explain say what becomes of a gain map")
    func gainMap() async throws {
        let recipe = "[Output]\nChain=resize scale=0.5 | save\n[Output old]\nChain=sepia | save\n"
        try await DaemonFixture.with(["etc/recipes.d/noir.recipe": recipe]) { daemon in
            try daemon.drop(Picture.withGainMap, as: "bright.jpg")
            let id = try await daemon.job("bright.jpg", becomes: "done")
            let page = try await daemon.pipectl("show", "\(id)").output
            #expect(page.contains(", gain map 8 × 4"), "\(page)")
            #expect(page.contains("with gain map 8 × 4; old without gain map: it does not match"), "\(page)")
            let file = daemon.root.appendingPathComponent("bright.jpg")
            try Picture.withGainMap.write(to: file)
            let words = try await daemon.pipectl("explain", file.path, "--chain", "resize scale=0.5 | save").output
            #expect(words.contains("; gain map kept"), "\(words)")
        }
    }

    @Test("A job's story says that its results lack the original's gain map and manifest")
    func drops() async throws {
        let recipe = "[Output]\nChain=save format=webp\n"
        try await DaemonFixture.with(["etc/recipes.d/noir.recipe": recipe]) { daemon in
            let xmp = "<x xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' hdrgm:Version='1.0'/>"
            let text = Picture.chunk("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0\(xmp)".utf8))
            // Insert both chunks after the signature and IHDR.
            let picture =
                Picture.small.prefix(33) + text + Picture.chunk("caBX", [0]) + Picture.small.dropFirst(33)
            try daemon.drop(picture, as: "bright.png")
            let id = try await daemon.job("bright.png", becomes: "done")
            let page = try await daemon.pipectl("show", "\(id)").output
            #expect(page.contains("without C2PA manifest, which no result keeps"), "\(page)")
            #expect(page.contains("without gain map: pipelined reads gain maps of a JPEG only"), "\(page)")
        }
    }
}
