import Foundation
import TestTools
import Testing

@Suite("The guides")
struct GuideTests {
    private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardized

    private static func fixture(_ name: String) -> String {
        source.appendingPathComponent("Tests/EndToEndTests/Fixture/\(name)").path
    }

    private static func guides() throws -> [String] {
        let docs = try FileManager.default.contentsOfDirectory(atPath: source.appendingPathComponent("docs").path)
        let pages = docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        return (["README.md"] + pages).map { source.appendingPathComponent($0).path }
    }

    @Test(
        "each block of commands in each guide runs unchanged, unless a comment above it says why not",
        .enabled(if: Mount.isPermitted, "only root may make a machine to run them on"))
    func commands() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let picture = "\(folder)/picture.png"
            try Picture.png(width: 240, height: 160).write(to: URL(fileURLWithPath: picture))
            let work = "\(folder)/machine"
            try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
            let outcome = try await Programs.run(
                path: "/usr/bin/unshare",
                [
                    "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                    Self.fixture("guide.sh"),
                    Self.source.path, Programs.folder.path, picture, work,
                ] + Self.guides())
            #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.errors)")
            #expect(outcome.output.contains("--- backup-and-moving.md:"))
        }
    }

    @Test("each test that a guide's comment names exists")
    func namedTests() throws {
        for guide in try Self.guides() {
            let text = try String(contentsOfFile: guide, encoding: .utf8)
            for name in text.matches(of: #/<!-- run by (\w+)\.(\w+) -->/#) {
                let file = Self.source.appendingPathComponent("Tests/EndToEndTests/\(name.1).swift")
                let test = try String(contentsOf: file, encoding: .utf8)
                #expect(test.contains("func \(name.2)("), "\(guide): \(name.0)")
            }
        }
    }
}
