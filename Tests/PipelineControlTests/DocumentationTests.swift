import Foundation
import PipelineControl
import Testing

@testable import pipectl

/// Checks docs/json.md. Users' programs rely on that page, so it must be complete.
struct DocumentationTests {
    private let page: String

    init() throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        page = try String(contentsOf: package.appendingPathComponent("docs/json.md"), encoding: .utf8)
    }

    /// Returns the text from this heading to the next one.
    private func section(_ title: String) throws -> String {
        let start = try #require(page.range(of: "# \(title)\n"), "there is no section \(title)")
        let rest = page[start.upperBound...]
        return String(rest[..<(rest.range(of: "\n#")?.lowerBound ?? rest.endIndex)])
    }

    @Test("Every field of every type is described in its own section")
    func fields() throws {
        for (type, fields) in InterfaceDescription(ControlInterface.control.description).types {
            let section = try section(type)
            for field in fields.keys { #expect(section.contains("`\(field)`"), "\(type).\(field)") }
        }
    }

    @Test("Every class of an error that pipectl or a filter's check reports is described")
    func errorClasses() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let errors = try section("Errors")
        for module in ["pipectl", "FilterConformance"] {
            let folder = sources.appendingPathComponent(module)
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files) where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                let pattern = /(?:Failure|complain)\(\s*(?:[^"\n]*\? )?"([A-Z]\w+)"(?: : "([A-Z]\w+)")?/
                for match in text.matches(of: pattern) {
                    for name in [match.1, match.2].compactMap(\.self) {
                        #expect(errors.contains("`\(name)`"), "\(name) of \(file.lastPathComponent)")
                    }
                }
            }
        }
    }

    @Test("Every verb and every exit code is described")
    func verbsAndCodes() throws {
        for verb in Verb.all { #expect(page.contains("`\(verb.name)"), "\(verb.name)") }
        let codes = try section("Exit codes")
        for code in ExitCode.allCases { #expect(codes.contains("| \(code.rawValue) |")) }
    }
}
