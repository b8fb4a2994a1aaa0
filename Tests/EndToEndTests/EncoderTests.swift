import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Encoders that a worker loads on demand, and that a machine may lack")
struct EncoderTests {
    private static let recipe = "[Recipe]\nInbox=tiny\n[Output]\nChain=resize width=20 | save format=jxl effort=3\n"

    /// How many workers have libjxl.
    private static func withJXL(_ daemon: DaemonFixture) throws -> Int {
        try daemon.workers().count { worker in
            let maps = FileHandle(forReadingAtPath: "/proc/\(worker)/maps")
            return String(decoding: try maps?.readToEnd() ?? Data(), as: UTF8.self).contains("libjxl")
        }
    }

    @Test("the encoder of JPEG XL is loaded when a picture first wants it, and not before", arguments: [1, 2])
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

    /// A folder with libvips, whose modules are not beside it, but for those of these names.
    private static func libvips(with modules: [String], in folder: String) async throws {
        let needed = try await Programs.run(path: "/usr/bin/ldd", [Programs.path("pipelined-render")]).output
        let line = try #require(needed.split(separator: "\n").first { $0.contains("libvips.so") })
        let path = try #require(line.split(separator: " ").first { $0.hasPrefix("/") })
        let library = URL(fileURLWithPath: String(path)).resolvingSymlinksInPath()
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try files.copyItem(
            atPath: library.path, toPath: "\(folder)/\(URL(fileURLWithPath: String(path)).lastPathComponent)")
        let beside = library.deletingLastPathComponent()
        for name in try files.contentsOfDirectory(atPath: beside.path) where name.hasPrefix("vips-modules-") {
            try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            for module in modules {
                try files.copyItem(atPath: "\(beside.path)/\(name)/\(module)", toPath: "\(folder)/\(name)/\(module)")
            }
        }
    }

    @Test(
        "where the module of JPEG XL is missing a recipe that wants it is refused with its package, and all else works")
    func missing() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Self.libvips(with: ["vips-heif.so"], in: daemon.path("lib"))
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
}
