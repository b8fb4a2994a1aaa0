import Foundation
import Testing

@testable import VarlinkSwift

/// Checks the generated code against the texts; `InterfaceTests` checks that code against the interface.
struct VarlinkTextTests {
    @Test("The checked-in Swift matches the checked-in texts; otherwise `./run generate` renews it")
    func current() throws {
        let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized
        let folder = package.appendingPathComponent("Sources/PipelineControl")
        let texts = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".varlink") }
        let made = swiftSource(
            of: try texts.sorted().map {
                try VarlinkText(String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            })
        let kept = try String(contentsOf: folder.appendingPathComponent("Varlink.swift"), encoding: .utf8)
        #expect(made.joined(separator: "\n") + "\n" == kept)
    }

    @Test("A member's comment is the one directly above it")
    func comment() throws {
        let text = try VarlinkText("# Of all.\ninterface a.b\n\n# Alone.\n\n# Two\n# lines.\ntype A (x: ?int)\n")
        #expect(text.name == "a.b")
        #expect(text.members.map(\.comment) == [["Two", "lines."]])
    }

    @Test(
        "An invalid text is refused with its line",
        arguments: [
            "type A (x int)", "type A (x: (y: int))", "type a (x: int)", "method A()", "error A (x: int) -> ()",
            "type A (\n# between\nx: int)", "typo A (x: int)",
        ])
    func refused(member: String) {
        let problem = #expect(throws: VarlinkText.Problem.self) { try VarlinkText("interface a.b\n\n\(member)\n") }
        #expect(problem?.line == 3)
    }
}
