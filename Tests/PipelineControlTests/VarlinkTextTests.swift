import Foundation
import Testing

@testable import VarlinkSwift

/// Checks the generated code against the .varlink files. `InterfaceTests` checks that code against the interface that
/// clients read.
struct VarlinkTextTests {
    private let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    @Test("The checked-in Swift and docs/json.md match the checked-in texts; otherwise `./run generate` renews them")
    func current() throws {
        let folder = package.appendingPathComponent("Sources/PipelineControl")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".varlink") }
        let texts = try files.sorted().map {
            try VarlinkText(String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
        }
        let kept = try String(contentsOf: folder.appendingPathComponent("Varlink.swift"), encoding: .utf8)
        #expect(swiftSource(of: texts).joined(separator: "\n") + "\n" == kept)
        let page = try String(contentsOf: package.appendingPathComponent("docs/json.md"), encoding: .utf8)
        #expect(renewingFieldTables(in: page, of: texts) == page)
    }

    @Test("The comment on a member or a field is the one directly above it")
    func comment() throws {
        let text = try VarlinkText(
            """
            # Of all.
            interface a.b

            # Alone.

            # Two
            # lines.
            type A (
              # a number (small),
              # or null
              x: ?int,
              y: [string]A
            )

            """)
        #expect(text.name == "a.b")
        #expect(text.members.map(\.comment) == [["Two", "lines."]])
        #expect(text.members[0].fields.map(\.comment) == [["a number (small),", "or null"], []])
        #expect(text.members[0].fields.map(\.type) == ["?int", "[string]A"])
    }

    @Test("The table below a heading lists the fields of the type that the heading names; the rest stays")
    func table() throws {
        let text = try VarlinkText(
            """
            interface a.b
            type A (
              # when it ended
              x: ?string,
              # its parts
              y: []A
            )

            """)
        let old = "# A\n\nText.\n\n| field | type | is |\n|---|---|---|\n| `z` | int | gone |\n\nEnd.\n"
        let new = """
            # A

            Text.

            | field | type | is |
            |---|---|---|
            | `x` | time or null | when it ended |
            | `y` | list of [A](#a) | its parts |

            End.

            """
        #expect(renewingFieldTables(in: old, of: [text]) == new)
    }

    @Test(
        "An invalid text is refused with its line",
        arguments: [
            "type A (x int)", "type A (x: (y: int))", "type a (x: int)", "method A()", "error A (x: int) -> ()",
            "type A (x: int # behind\n)", "typo A (x: int)",
        ])
    func refused(member: String) {
        let problem = #expect(throws: VarlinkText.Problem.self) { try VarlinkText("interface a.b\n\n\(member)\n") }
        #expect(problem?.line == 3)
    }
}
