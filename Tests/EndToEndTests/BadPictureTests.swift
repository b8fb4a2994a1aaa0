import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Bad pictures")
struct BadPictureTests {
    private static let recipes = [
        "etc/pipelined.conf": "[Daemon]\nMaxPixels=70K\n",
        "etc/recipes.d/wide.recipe":
            "[Recipe]\nInbox=wide\n[Output]\nChain=resize width=17600 height=2 fit=exact | save format=webp\n[Output two]\nChain=noir\n",
    ]

    @Test(
        "each bad picture goes to failed/ with its fault, stage and remedy; the same workers render good ones")
    func failed() async throws {
        try await DaemonFixture.with(Self.recipes) { daemon in
            try daemon.drop(as: "first.png")
            try await daemon.job("first.png", becomes: "done")
            let jpeg = try daemon.data("outbox/noir/first.jpg")
            let bad: [(name: String, data: Data, what: String, stage: String, todo: String)] = [
                ("text.jpg", Data("Dear diary".utf8), "looks like text", "open (reading", "JPEG, PNG, WebP"),
                ("empty.jpg", Data(), "the file is empty", "open (reading", "copy it again"),
                ("cut.jpg", jpeg.prefix(jpeg.count / 2), "its end is missing", "open (reading", "OnTruncated=accept"),
                ("cut.png", Picture.small.prefix(900), "its end is missing", "open (reading", "copy it again"),
                ("drawing.jpg", Data("<svg width='3'/>".utf8), "an SVG drawing", "open (reading", "JPEG, PNG, WebP"),
                ("paper.jpg", Data("%PDF-1.4\n".utf8), "a PDF document", "open (reading", "JPEG, PNG, WebP"),
                (
                    "large.png", Picture.png(width: 300, height: 300), "300 × 300 are 90000 pixels", "open (reading",
                    "MaxPixels"
                ),
                (
                    "nothing.jpg", Data([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0xff, 0xd9]), "can't be read", "open (reading",
                    "save it afresh"
                ),
            ]
            for picture in bad {
                try daemon.drop(picture.data, as: "album/\(picture.name)")
                try daemon.drop(as: "good-\(picture.name).png")
            }
            try daemon.drop(Picture.png(width: 1100, height: 1), as: "long.png", inbox: "inbox/wide")
            try await daemon.waitForAll()
            let states = try daemon.list().map { "\($0.input) \($0.state) \($0.error ?? "")" }
            #expect(try daemon.list(["done"]).count == bad.count + 1, "\(states)")
            await daemon.stop()
            for picture in bad {
                let note = try daemon.text("failed/noir/album/\(picture.name).error.txt")
                #expect(note.hasPrefix("\(picture.name) could not be processed."))
                for part in [picture.what, "In which stage:   \(picture.stage)", picture.todo, "pipectl retry"] {
                    #expect(note.contains(part), "\(part) in \(note)")
                }
                #expect(try daemon.data("failed/noir/album/\(picture.name)") == picture.data)
            }
            let note = try daemon.text("failed/wide/long.png.error.txt")
            #expect(note.contains("webp holds at most 16383 pixels a side, and the result would be 17600 × 2"))
            #expect(note.contains("In which stage:   save (writing the result)"))
            #expect(daemon.files(in: "outbox").count == bad.count + 1)
            #expect(daemon.files(in: "inbox") == [])
            #expect(!daemon.log.contains("worker of"))
        }
    }

    @Test("the smallest and the longest pictures are rendered")
    func extremes() async throws {
        try await DaemonFixture.with(Self.recipes) { daemon in
            try daemon.drop(Picture.png(width: 1, height: 1), as: "dot.png")
            try daemon.drop(Picture.png(width: 65535, height: 1), as: "line.png")
            try await daemon.waitForAll()
            let sizes = try daemon.list().map { $0.after.map(\.width) }
            #expect(sizes == [[1], [32767]])
        }
    }

    @Test("a result whose name belongs to a folder fails with the remedy, and passes once that is done")
    func nameOfFolder() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "done")
            try daemon.drop(as: "a.jpg/b.png")
            try await daemon.job("a.jpg/b.png", becomes: "failed")
            let failed = try #require(try daemon.list(["failed"]).first)
            #expect(failed.error?.contains("Not a directory") == true, "\(failed)")
            try FileManager.default.removeItem(atPath: daemon.path("outbox/noir/a.jpg"))
            _ = try daemon.call(Call.Retry(states: ["failed"]))
            try await daemon.job("a.jpg/b.png", becomes: "done")
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/a.jpg/b.jpg"])
            #expect(daemon.files(in: "failed") == [])
        }
    }

    @Test("OnTruncated=accept renders the part that exists, and a job keeps the policy that it was made with")
    func truncated() async throws {
        func recipe(_ policy: String) -> String {
            "[Recipe]\nInbox=cut\nOnTruncated=\(policy)\n[Output]\nChain=save format=png\n"
        }
        try await DaemonFixture.with(["etc/recipes.d/cut.recipe": recipe("accept")]) { daemon in
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.onTruncated) == ["accept", "fail"])
            let cut = Picture.png(width: 60, height: 50).prefix(6000)
            _ = try daemon.call(Call.Pause())
            try daemon.drop(cut, as: "before.png", inbox: "inbox/cut")
            try await daemon.job("before.png", becomes: "queued")
            try daemon.write(recipe("fail"), to: "etc/recipes.d/cut.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try daemon.drop(cut, as: "after.png", inbox: "inbox/cut")
            try await daemon.job("after.png", becomes: "queued")
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == ["done", "failed"])
            #expect(jobs.first?.after.map(\.height) == [50])
        }
    }

    /// The folder with libheif's codec plugins, which come in separate packages. Nil if this machine has no such
    /// folder.
    private static let codecPlugins = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libheif/plugins" }
        .first { FileManager.default.fileExists(atPath: $0) }

    @Test(
        "a picture whose codec is missing fails with the name of the codec's package",
        .enabled(if: Mount.isPermitted, "only root may hide libheif's codecs"),
        .enabled(if: codecPlugins != nil, "this libheif has its codecs built in"))
    func codecs() async throws {
        let recipe = "[Recipe]\nInbox=small\n[Output]\nChain=save format=avif\n"
        try await DaemonFixture.with(["etc/recipes.d/small.recipe": recipe]) { daemon in
            try daemon.drop(as: "here.png", inbox: "inbox/small")
            try await daemon.job("here.png", becomes: "done")
            let avif = try daemon.data("outbox/small/here.avif")
            await daemon.stop()
            let hide = "mount -t tmpfs none '\(try #require(Self.codecPlugins))' && exec \"$@\""
            let hidden = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", hide, "sh"]
            let check = [Programs.path("pipelined"), "--root", daemon.root.path, "--check"]
            let refused = try await Programs.run(path: hidden[0], hidden.dropFirst() + check)
            #expect(refused.status == 78 && refused.errors.contains("libheif-plugin-aomenc"), "\(refused)")
            try FileManager.default.removeItem(atPath: daemon.path("etc/recipes.d/small.recipe"))
            try await daemon.start(under: hidden)
            try daemon.drop(avif, as: "read.avif")
            try await daemon.waitForAll()
            let note = try daemon.text("failed/noir/read.avif.error.txt")
            #expect(note.contains("is missing on this machine") && note.contains("libheif-plugin-dav1d"), "\(note)")
        }
    }

    @Test("a file that is truncated during its read, through another name, costs its own job only")
    func cutWhileRead() async throws {
        let recipe = "[Recipe]\nInbox=slow\n[Output]\nChain=save format=png\n"
        try await DaemonFixture.with(["etc/recipes.d/slow.recipe": recipe]) { daemon in
            try daemon.write(Picture.tiff(width: 12000, height: 10000), to: "mine.tif")
            let inbox = daemon.path("inbox/slow/huge.tif")
            #expect(link(daemon.path("mine.tif"), inbox) == 0)
            try await daemon.job("huge.tif", becomes: "running")
            #expect(truncate(daemon.path("mine.tif"), 20_000) == 0)
            try await daemon.job("huge.tif", becomes: "failed")
            try daemon.drop(as: "good.png")
            try await daemon.job("good.png", becomes: "done")
            await daemon.stop()
            #expect(daemon.files(in: "failed") == ["slow/huge.tif", "slow/huge.tif.error.txt"])
            #expect(daemon.files(in: "outbox") == ["noir/good.jpg"])
        }
    }
}
