import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Trying out pictures")
struct TryTests {
    private static let shop = """
        [Recipe]
        Inbox=shop
        [Output web]
        Chain=resize edge=160 | tee small | noir | save format=webp
        [Output]
        Chain=mono | save format=png
        """

    @Test(
        "a try runs a recipe and a chain without a job, even while queues are paused, and returns files"
    )
    func files() async throws {
        try await DaemonFixture.with(["etc/recipes.d/shop.recipe": Self.shop]) { daemon in
            _ = try daemon.call(Call.Pause())
            try daemon.write(Picture.png(width: 320, height: 240), to: "mine/a.b.png")
            let outcome = try await daemon.pipectl(
                "try", daemon.path("mine/a.b.png"), "--recipe", "shop", "--chain", "sepia", "-o", daemon.path("mine"),
                "-j")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let files = [
                "a.b.png", "a.b.try.1.jpg", "a.b.try.shop.png", "a.b.try.shop.small.webp", "a.b.try.shop.web.webp",
            ]
            #expect(daemon.files(in: "mine") == files)
            let proofs = try outcome.objects().compactMap { $0["proof"] as? [String: Any] }
            let widths = proofs.map { ($0["picture"] as? [String: Any])?["width"] as? Int }
            #expect(widths == [160, 160, 320, 320])
            #expect(proofs.allSatisfy { $0["problem"] is NSNull && $0["decode"] is String })
            let size = try #require(Picture.jpegSize(daemon.data("mine/a.b.try.1.jpg")))
            #expect(size == (320, 240))
            #expect(try daemon.list().isEmpty)
            #expect(daemon.files(in: "outbox").isEmpty && daemon.files(in: "state/spool").isEmpty)

            let paths = try outcome.objects().compactMap { $0["file"] as? String }
            #expect(Set(paths) == Set(files.dropFirst().map { daemon.path("mine/\($0)") }))

            // Without a recipe and a chain, `try` uses the default recipe. The new result replaces the previous one.
            let again = try await daemon.pipectl(
                "try", daemon.path("mine/a.b.png"), "-o", daemon.path("mine/a.b.try.1.jpg"))
            #expect(again.status == 0 && again.lines.first?.contains("a.b.try.1.jpg") == true, "\(again.errors)")
            #expect(daemon.files(in: "mine") == files)
        }
    }

    @Test("a sheet shows the picture and its results side by side, and says which result can't be made")
    func sheet() async throws {
        let broken = "[Recipe]\nInbox=broken\n[Output]\nChain=watermark picture=logo.png\n"
        try await DaemonFixture.with(["etc/recipes.d/broken.recipe": broken]) { daemon in
            try daemon.write(Picture.png(width: 320, height: 240), to: "a.png")
            let words = [
                "--chain", "noir", "--recipe", "broken", "--chain", "resize width=100 | save format=png", "--sheet",
            ]
            let outcome = try await Programs.run(
                "pipectl", ["--root", daemon.root.path, "try", daemon.path("a.png"), "-o", daemon.root.path] + words)
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("broken: watermark: "))
            let size = try #require(Picture.jpegSize(daemon.data("a.try.sheet.jpg")))
            // The sheet contains three pictures of 320 pixels, with margins of 16 between and around them.
            #expect(size.width == 3 * 320 + 4 * 16 && (240 + 2 * 16..<640).contains(size.height), "\(size)")

            let nothing = try await daemon.pipectl("try", daemon.path("etc/recipes.d/broken.recipe"), "--sheet")
            #expect(nothing.status == 1 && nothing.errors.contains("no picture"), "\(nothing.errors)")
            for format in ["png", "webp"] {
                let path = daemon.path("sheet.\(format)")
                #expect(try await daemon.pipectl("try", daemon.path("a.png"), "--sheet", "-o", path).status == 0)
                #expect(daemon.exists("sheet.\(format)"))
            }
        }
    }

    @Test("a sheet shows transparent parts as the result does: filled if its format has no transparency")
    func ground() async throws {
        try await DaemonFixture.with { daemon in
            _ = try await Programs.run(
                path: "/usr/bin/vips", ["black", daemon.path("clear.png"), "64", "64", "--bands", "4"])
            let chains = ["save background=#ff0000", "save format=png", "save"].flatMap { ["--chain", $0] }
            let outcome = try await Programs.run(
                "pipectl",
                ["--root", daemon.root.path, "try", daemon.path("clear.png"), "--sheet", "-o", daemon.path("s.png")]
                    + chains)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for (place, colour) in [(48, "34 34 34"), (128, "255 0 0"), (208, "34 34 34"), (288, "255 255 255")] {
                let point = try await Programs.run(
                    path: "/usr/bin/vips", ["getpoint", daemon.path("s.png"), "\(place)", "48"])
                #expect(point.output.hasPrefix("\(colour) "), "\(place): \(point)")
            }
        }
    }

    @Test("a picture with the longest possible name can be tried, and --json names all fields")
    func longest() async throws {
        try await DaemonFixture.with { daemon in
            let name = String(repeating: "é", count: 125)
            try daemon.write(Picture.small, to: "\(name).png")
            let outcome = try await daemon.pipectl("try", daemon.path("\(name).png"), "-o", daemon.root.path)
            #expect(outcome.status == 0 && daemon.exists("\(name.dropLast(2)).try.jpg"), "\(outcome)")
            try daemon.write("no picture", to: "b.png")
            let object = try await daemon.pipectl("try", daemon.path("b.png"), "-j").objects()
            #expect(object.count == 1 && object[0]["file"] is NSNull && object[0]["before"] is NSNull)
        }
    }

    @Test("an impossible try is refused with a message, and the picture is never overwritten")
    func refused() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "a.png")
            let picture = daemon.path("a.png")
            func expect(_ status: Int32, _ words: String, _ arguments: String...) async throws {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "try"] + arguments)
                #expect(
                    outcome.status == status && (words.isEmpty || outcome.errors.contains(words)),
                    "\(arguments): \(outcome.errors)")
            }
            try await expect(1, "is the picture itself", picture, "--chain", "save format=png", "-o", picture)
            // If the output path is a link to the picture, `try` replaces the link instead of following it.
            try FileManager.default.createSymbolicLink(atPath: daemon.path("link.png"), withDestinationPath: picture)
            try await expect(0, "", picture, "--chain", "save format=png", "-o", daemon.path("link.png"))
            try await expect(2, "use that suffix", picture, "-o", daemon.path("a.webp"))
            try await expect(
                2, "name a folder", picture, "--chain", "noir", "--chain", "mono", "-o", daemon.path("b.jpg"))
            try await expect(2, "name a folder", picture, picture, "-o", daemon.path("b.jpg"))
            try await expect(2, "a sheet is a .jpg", picture, "--sheet", "-o", daemon.path("b.gif"))
            try await expect(2, "did you mean 'noir'", picture, "--recipe", "nior")
            try await expect(2, "at column 8", picture, "--chain", "mono | bogus")
            try await expect(1, "No such file", daemon.path("none.png"))
            try await expect(1, "is not a regular file", daemon.root.path)
            try await expect(1, "none: there is no such folder", picture, "-o", daemon.path("none/b.jpg"))
            // pipectl detects these mistakes before it calls the daemon.
            let nowhere = ["--root", daemon.path("none"), "try", picture, "--sheet", "-o", daemon.path("none") + "/"]
            let early = try await Programs.run("pipectl", nowhere)
            #expect(early.status == 1 && early.errors.contains("none/: there is no such folder"), "\(early)")
            let many = (0...ControlInterface.mostProofs).flatMap { _ in ["--chain", "noir"] }
            let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "try", picture] + many)
            #expect(outcome.status == 2 && outcome.errors.contains("at most 32 results"))
            #expect(try daemon.data("a.png") == Picture.small)
            #expect(throws: ControlError.self) { try daemon.call(Call.Try(name: "a", recipes: [], chains: [])) }
            #expect(!daemon.exists("b.jpg") && daemon.files(in: "state/spool").isEmpty)
        }
    }

    @Test("the files of a try are closed even if the client stays connected")
    func closed() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "a.png")
            let client = try daemon.client()
            /// Returns the number of result files that the daemon has open.
            func open() throws -> Int {
                let folder = "/proc/\(daemon.process)/fd"
                return try FileManager.default.contentsOfDirectory(atPath: folder).count { number in
                    let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
                    return target?.contains("/state/spool/") ?? false
                }
            }
            func tryOut() throws {
                let picture = try Descriptor.open(daemon.path("a.png"), O_RDONLY)
                let chains = ["noir", "save format=png"]
                let (reply, files) = try client.callForFiles(
                    Call.Try(name: "a.png", recipes: [], chains: chains), descriptors: [picture])
                #expect(reply.proofs.map(\.suffix) == ["jpg", "png"] && files.count == 2)
                // The received files can be read, but not written.
                for file in files { #expect(Glibc.write(file.number, "x", 1) < 0) }
            }
            for _ in 0..<20 { try tryOut() }
            // The results of the latest try may still be open, because the daemon is sending them.
            #expect(try open() <= 4)
        }
    }

    @Test("a client that disconnects withdraws its picture from the work")
    func gone() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.tiff(width: 12000, height: 9000), to: "huge.tif")
            let slow = Call.Try(name: "huge.tif", recipes: [], chains: ["blur radius=20 | save format=avif effort=9"])
            var socket: Descriptor? = try Socket.connect(daemon.path("run/control.sock"))
            let call = try Wire.frame(WireCall(method: Call.Try.method, parameters: slow))
            let file = try Descriptor.open(daemon.path("huge.tif"), O_RDONLY)
            if let socket { try Socket.send(call, descriptors: [file], to: socket) }
            while try !daemon.workers().contains(where: { daemon.holds($0, "huge.tif") }) { await Task.yield() }
            socket = nil
            // The next try can only start once the abandoned one has been withdrawn.
            try daemon.write(Picture.small, to: "a.png")
            let next = try await daemon.pipectl("try", daemon.path("a.png"), "-o", daemon.root.path)
            #expect(next.status == 0, "\(next.errors)")
            #expect(try !daemon.workers().contains { daemon.holds($0, "huge.tif") })
            #expect(daemon.files(in: "state/spool").isEmpty)
        }
    }
}
