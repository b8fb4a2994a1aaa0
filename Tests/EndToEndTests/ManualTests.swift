import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

/// Checks the manual pages as they are installed.
@Suite("The installed manual")
struct ManualTests {
    private static let pages = [
        "man1/pipectl.1", "man3/pipeline_plugin.h.3", "man5/pipelined.conf.5", "man5/pipelined.recipe.5",
        "man8/pipelined-gallery.8", "man8/pipelined.8",
    ]

    private static let source = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    private func install(below prefix: String) async throws {
        let outcome = try await Programs.run(
            path: "/bin/bash",
            [Self.source.appendingPathComponent("packaging/install.sh").path, Programs.folder.path, prefix])
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    @Test("Every page exists, is ASCII, and is valid roff")
    func pages() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await install(below: daemon.path("prefix"))
            #expect(daemon.files(in: "prefix/share/man") == Self.pages)
            for page in Self.pages {
                let text = try daemon.text("prefix/share/man/\(page)")
                #expect(text.utf8.allSatisfy { $0 < 128 }, "\(page)")
                #expect(text.contains("pipelined \(Release.version)"))
                let lint = try await Programs.run(
                    path: "/usr/bin/mandoc", ["-T", "lint", "-W", "warning", daemon.path("prefix/share/man/\(page)")])
                #expect(lint.status == 0 && lint.output.isEmpty, "\(lint.output)\(lint.errors)")
            }
        }
    }

    @Test("Each page that another refers to exists")
    func references() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await install(below: daemon.path("prefix"))
            for page in Self.pages {
                let text = plainText(ofPage: try daemon.text("prefix/share/man/\(page)"))
                for reference in text.matches(of: /(pipe[\w.]+)\((\d)\)/) {
                    #expect(Self.pages.contains("man\(reference.2)/\(reference.1).\(reference.2)"), "\(reference.0)")
                }
            }
        }
    }

    @Test("pipelined.recipe(5) documents each of the daemon's stages with its parameters")
    func stages() async throws {
        try await DaemonFixture.with { daemon in
            let outcome = try await Programs.run("pipelined", ["--man", "pipelined.recipe"])
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            let page = plainText(ofPage: outcome.output)
            let stages = try daemon.call(Call.Plugins()).stages
            #expect(stages.count > 16)
            for stage in stages {
                #expect(page.contains(".SS \(stage.name) "))
                for parameter in stage.parameters {
                    let entry = "\(parameter.name)=\(parameter.default ?? "") \(plainText(ofHelp: parameter.help))"
                    #expect(page.contains(entry), "\(stage.name) \(entry)")
                }
            }
        }
    }

    @Test("pipeline_plugin.h(3) documents every name in the header that a filter may use, with the header's comments")
    func header() async throws {
        let header = try String(
            contentsOf: Self.source.appendingPathComponent("Sources/CPipelinePlugin/pipeline_plugin.h"), encoding: .utf8
        )
        let made = try await Programs.run(
            path: "/usr/bin/awk",
            [
                "-v", "release=2026-03-01", "-f", Self.source.appendingPathComponent("packaging/header-page.awk").path,
                Self.source.appendingPathComponent("Sources/CPipelinePlugin/pipeline_plugin.h").path,
            ], environment: ["LC_ALL": "C"])
        #expect(made.status == 0 && made.errors.isEmpty)
        let page = plainText(ofPage: made.output)
        for name in header.matches(of: /\b(PIPELINE_[A-Z]+_?[A-Z_]*|Pipeline[A-Z]\w+)\b/) {
            let isInside = ["PIPELINE_PLUGIN_H", "PIPELINE_NULLABLE"].contains(String(name.1))
            #expect(isInside || page.contains(name.1), "\(name.1)")
        }
        for comment in header.matches(of: /\/\*(?s:(.*?))\*\//).dropFirst() {
            let said = comment.1.split(separator: "\n").map { $0.drop { " *".contains($0) } }.joined(separator: " ")
            #expect(page.contains(plainText(ofHelp: said)), "\(said)")
        }
    }
}
