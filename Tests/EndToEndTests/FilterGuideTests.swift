import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Filters that users write")
struct FilterGuideTests {
    /// For each language, the files of `pipectl plugins new`, in the order of their snippets in the guide.
    private static let languages: [(name: String, files: [String], make: [String], product: String)] = [
        ("c", ["warm.c", "Makefile"], ["/usr/bin/make"], "warm.so"),
        ("c++", ["warm.cpp", "Makefile"], ["/usr/bin/make"], "warm.so"),
        (
            "swift", ["Sources/Warm/Warm.swift", "Package.swift"],
            ["/usr/bin/env", "swift", "build", "-c", "release"], ".build/release/libwarm.so"
        ),
    ]

    private static var source: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..").standardized
    }

    /// Returns the code snippets of the guide, without its commands.
    private static func guide() throws -> [String] {
        let text = try String(
            contentsOf: source.appendingPathComponent("docs/writing-a-filter.md"), encoding: .utf8)
        return text.components(separatedBy: "\n```").enumerated().filter { $0.offset % 2 == 1 }
            .map {
                String($0.element[$0.element.index(after: $0.element.firstIndex(of: "\n") ?? $0.element.startIndex)...])
                    + "\n"
            }
    }

    @Test("the guide's filters in C, C++ and Swift build against an installed tree alone, and do the same")
    func guideFilters() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let prefix = daemon.path("prefix")
            let installed = try await Programs.run(
                path: "/bin/bash",
                [Self.source.appendingPathComponent("packaging/install.sh").path, Programs.folder.path, prefix])
            try #require(installed.status == 0, "\(installed.errors)")
            let environment = [
                "PKG_CONFIG_PATH": "\(prefix)/lib/pkgconfig", "PWD": daemon.root.path,
            ]
            func run(_ command: [String], in folder: String) async throws {
                let outcome = try await Programs.run(
                    path: "/usr/bin/env", ["-C", folder] + command, environment: environment)
                try #require(outcome.status == 0, "\(command) says \(outcome.output) \(outcome.errors)")
            }
            var pieces = try Self.guide()
            var results: [Data] = []
            for (language, files, make, product) in Self.languages {
                let folder = daemon.path("work-\(language)")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try await run(["\(prefix)/bin/pipectl", "plugins", "new", "warm", "--language", language], in: folder)
                for file in files {
                    let written = try String(contentsOfFile: "\(folder)/warm/\(file)", encoding: .utf8)
                    #expect(written.replacing(prefix, with: "/usr/local") == pieces.removeFirst(), "\(file)")
                }
                try await run(make, in: "\(folder)/warm")
                _ = try await Programs.run(path: "/bin/mkdir", ["-p", daemon.path("plugins")])
                _ = try await Programs.run(
                    path: "/bin/cp", ["\(folder)/warm/\(product)", daemon.path("plugins/warm.so")])

                // As in the guide, the programs are found through PATH, and no daemon is running.
                let path = ["PATH": "\(prefix)/bin:\(ProcessInfo.processInfo.environment["PATH"] ?? "")"]
                try daemon.write(Picture.png(width: 90, height: 60), to: "beach.png")
                let tried = try await Programs.run(
                    path: "/usr/bin/env",
                    [
                        "-C", "\(folder)/warm", "pipectl", "plugins", "try", product, "amount=0.8",
                        daemon.path("beach.png"), "w.png",
                    ],
                    environment: path)
                #expect(tried.status == 0 && tried.output.contains("w.png: 90 × 60, png, "), "\(tried)")
                if language == "c" {
                    let checked = try await Programs.run(
                        path: "/usr/bin/env", ["-C", "\(folder)/warm", "make", "check"],
                        environment: environment.merging(path) { $1 })
                    #expect(checked.status == 0 && checked.output.contains("warm conforms."), "\(checked)")
                }

                let check = try await Programs.run(
                    path: "\(prefix)/bin/pipelined", ["--root", daemon.root.path, "--check"])
                #expect(check.status == 0 && check.output.contains("noir"), "\(check.output) \(check.errors)")
                #expect(check.output.contains("warm"))
                try await daemon.start()
                try daemon.write(Picture.png(width: 90, height: 60), to: "beach.png")
                let added = try await daemon.pipectl(
                    "add", daemon.path("beach.png"), "--chain", "warm amount=0.8 | save format=png", "--wait")
                #expect(added.status == 0, "\(added.errors)")
                await daemon.stop()
                let result = try #require(daemon.files(in: "outbox/chain").last)
                results.append(try daemon.data("outbox/chain/\(result)"))
                try FileManager.default.removeItem(atPath: daemon.path("outbox/chain/\(result)"))
            }
            #expect(pieces.isEmpty)
            #expect(results.count == 3 && Set(results).count == 1)
        }
    }

    @Test(
        "invalid arguments are refused, and nothing is written",
        arguments: [
            (["new"], "needs a name and a language"), (["new", "glow"], "needs a name and a language"),
            (["new", "Glow", "--language", "c"], "can't be a filter's name"),
            (["new", "glow-", "--language", "c"], "can't be a filter's name"),
            (["new", "7up", "--language", "c"], "can't be a filter's name"),
            (["new", "é", "--language", "c"], "can't be a filter's name"),
            (["new", String(repeating: "g", count: 41), "--language", "c"], "can't be a filter's name"),
            (["new", "glow", "--language", "rust"], "one of swift, c, c++, not 'rust'"),
            (["new", "glow", "--language", "swift"], "install pipelined (./run install --prefix P)"),
            (["noir", "--language", "c"], "--language is for a new filter"),
            (["try"], "try needs a filter's file"), (["try", "/bin/true", "a.jpg"], "try needs a picture, and a file"),
            (["try", "/bin/true", "strength", "a.jpg", "b.png"], "'strength' is not NAME=VALUE"),
            (["check", "/bin/true", "strength"], "'strength' is not NAME=VALUE"),
            (["check", "glow.so"], "there is no file glow.so"),
            (["check", "/bin/true"], "/bin/true is not a filter"), (["show", "noir", "mono"], "unexpected 'mono'"),
        ])
    func refused(words: [String], reason: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pipelined-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome = try await Programs.run(
            path: "/usr/bin/env", ["-C", folder.path, Programs.path("pipectl"), "plugins"] + words)
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("plugins new leaves an existing folder alone")
    func again() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pipelined-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("glow"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let outcome = try await Programs.run(
            path: "/usr/bin/env",
            ["-C", folder.path, Programs.path("pipectl"), "plugins", "new", "glow", "--language", "c"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("glow exists already; nothing was written"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/glow").isEmpty)
    }
}
