import Foundation
import PipelineControl
import TestTools
import Testing

struct StoryTests {
    @Test("A job's story says which of its results lacks what its original carries, because the format can't hold it")
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
}
