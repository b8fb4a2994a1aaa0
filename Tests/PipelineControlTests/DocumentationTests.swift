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

    /// The text from this heading to the next one.
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

    @Test("Every verb and every exit code is described")
    func verbsAndCodes() throws {
        for verb in Verb.all { #expect(page.contains("`\(verb.name)"), "\(verb.name)") }
        let codes = try section("Exit codes")
        for code in ExitCode.allCases { #expect(codes.contains("| \(code.rawValue) |")) }
    }
}
