import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Encoders that a worker loads on demand and a machine may lack")
struct EncoderTests {
    private static let recipe = "[Recipe]\nInbox=tiny\n[Output]\nChain=resize width=20 | save format=jxl effort=3\n"

    /// Returns the number of render workers that have loaded libjxl.
    private static func withJXL(_ daemon: DaemonFixture) throws -> Int {
        try daemon.workers().count { worker in
            let maps = FileHandle(forReadingAtPath: "/proc/\(worker)/maps")
            return String(decoding: try maps?.readToEnd() ?? Data(), as: UTF8.self).contains("libjxl")
        }
    }

    @Test("the JPEG XL encoder is loaded when a picture first needs it, and not before", arguments: [1, 2])
    func onDemand(workers: Int) async throws {
        let files = ["etc/recipes.d/tiny.recipe": Self.recipe, "etc/pipelined.conf": "[Queues]\nRender=\(workers)\n"]
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(as: "grey.png")
            try await daemon.job("grey.png", becomes: "done")
            #expect(try Self.withJXL(daemon) == 0)
            for number in 1...6 {
                try daemon.drop(as: "\(number).png", inbox: "inbox/tiny")
                try daemon.drop(as: "\(number).png")
            }
            try await daemon.waitForAll()
            #expect(try Self.withJXL(daemon) > 0)
            await daemon.stop()
            #expect(daemon.files(in: "outbox/tiny") == (1...6).map { "\($0).jxl" })
            let made = try daemon.data("outbox/tiny/1.jxl")
            #expect(made.dropFirst(4).starts(with: Data("JXL ".utf8)))
            #expect(daemon.files(in: "outbox/noir").count == 7)
        }
    }

    /// Returns the libvips that the workers use: its file name and its path.
    private static func libvips() async throws -> (name: String, file: URL) {
        let needed = try await Programs.run(path: "/usr/bin/ldd", [Programs.path("pipelined-render")]).output
        let line = try #require(needed.split(separator: "\n").first { $0.contains("libvips.so") })
        let path = URL(fileURLWithPath: String(try #require(line.split(separator: " ").first { $0.hasPrefix("/") })))
        return (path.lastPathComponent, path.resolvingSymlinksInPath())
    }

    /// Copies libvips, but not its modules, to a folder.
    private static func copyLibrary(to folder: String) async throws {
        let library = try await libvips()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: library.file.path, toPath: "\(folder)/\(library.name)")
    }

    private static func copyModule(_ module: String, to folder: String) async throws {
        let beside = try await libvips().file.deletingLastPathComponent().path
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: beside) where name.hasPrefix("vips-modules-") {
            try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            try files.copyItem(atPath: "\(beside)/\(name)/\(module)", toPath: "\(folder)/\(name)/\(module)")
        }
    }

    @Test(
        "a recipe that needs a missing JPEG XL module is refused with the package's name, and all else works")
    func missing() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Self.copyLibrary(to: daemon.path("lib"))
            try await Self.copyModule("vips-heif.so", to: daemon.path("lib"))
            try await daemon.start(under: ["/usr/bin/env", "LD_LIBRARY_PATH=\(daemon.path("lib"))"])
            try daemon.write(Self.recipe, to: "etc/recipes.d/tiny.recipe")
            let reload = try await daemon.pipectl("reload")
            #expect(reload.status != 0, "\(reload)")
            for part in [
                "tiny.recipe:4: format=jxl, whose encoder is missing on this machine at column 30; install a libvips with JPEG XL, "
                    + "such as Debian's libvips42", ", then pipectl reload, or choose another format",
            ] { #expect(reload.errors.contains(part), "\(reload)") }
            try daemon.write(Picture.small, to: "outside.png")
            let chain = try await daemon.pipectl("add", daemon.path("outside.png"), "--chain", "save format=jxl")
            #expect(chain.status != 0 && chain.errors.contains("whose encoder is missing on this machine"), "\(chain)")

            try daemon.write(
                "[Recipe]\nInbox=tiny\n[Output]\nChain=save format=avif\n", to: "etc/recipes.d/tiny.recipe")
            #expect(try await daemon.pipectl("reload").status == 0)
            try daemon.drop(as: "one.png", inbox: "inbox/tiny")
            try await daemon.job("one.png", becomes: "done")
        }
    }

    @Test(
        "the daemon starts without a recipe's encoder: its pictures wait with the reason until a reload finds it")
    func missingAtStart() async throws {
        try await DaemonFixture.with(["etc/recipes.d/tiny.recipe": Self.recipe], started: false) { daemon in
            let library = daemon.path("lib")
            try await Self.copyLibrary(to: library)
            try daemon.write(Picture.small, to: "outside.png")
            try daemon.drop(as: "before.png", inbox: "inbox/tiny")
            let environment = ["/usr/bin/env", "LD_LIBRARY_PATH=\(library)"]
            try await daemon.start(under: environment)
            let reason = "the encoder of jxl is missing on this machine: install a libvips with JPEG XL"
            let problems = try daemon.status().problems
            #expect(problems.count == 1 && problems[0].hasPrefix(reason), "\(problems)")
            let added = try await daemon.pipectl("add", daemon.path("outside.png"), "--recipe", "tiny")
            #expect(added.status == 0, "\(added)")
            try await daemon.job("outside.png", becomes: "waiting")
            #expect(try daemon.list().first { $0.input == "outside.png" }?.reason?.hasPrefix(reason) == true)
            let inbox = try daemon.status().inboxes.first { $0.recipe == "tiny" }
            #expect(inbox?.problem?.hasPrefix(reason) == true)
            try daemon.drop(as: "other.png")
            try await daemon.job("other.png", becomes: "done")

            // After a restart the job still waits. A reload changes nothing yet, because the module is still missing.
            let last = try daemon.status().cursor
            await daemon.stop()
            try await daemon.start(under: environment)
            try await daemon.event { $0.cursor > last && $0.job?.input == "outside.png" && $0.job?.state == "waiting" }
            #expect(try await daemon.pipectl("reload").status == 1)
            #expect(daemon.files(in: "failed") == [] && daemon.files(in: "outbox/tiny") == [])

            try await Self.copyModule("vips-jxl.so", to: library)
            #expect(try await daemon.pipectl("reload").status == 0)
            try await daemon.job("outside.png", becomes: "done")
            try await daemon.job("before.png", becomes: "done")
            #expect(try daemon.status().problems == [])
            #expect(try daemon.data("outbox/tiny/before.jxl").dropFirst(4).starts(with: Data("JXL ".utf8)))
        }
    }
}
