import Foundation
import Testing

@Suite("docs/reliability.md")
struct ReliabilityTests {
    private static let project = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    @Test("Each test that the page names exists, and each row names a test")
    func named() throws {
        let text = try String(contentsOf: Self.project.appendingPathComponent("docs/reliability.md"), encoding: .utf8)
        let there = try Self.tests()
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| fault") }
        #expect(rows.count > 50)
        for row in rows {
            let names = row.matches(of: /`(\w+Tests\.\w+)`/).map { String($0.1) }
            #expect(!names.isEmpty, "\(row)")
            for name in names { #expect(there.contains(name), "\(name) is no test") }
        }
    }

    /// Returns all tests, as `Suite.function`.
    private static func tests() throws -> Set<String> {
        let folder = project.appendingPathComponent("Tests")
        var names: Set<String> = []
        for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init()
        where path.hasSuffix("Tests.swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            guard let suite = text.firstMatch(of: /struct (\w+Tests)\b/) else { continue }
            for function in text.matches(of: /\bfunc (\w+)\(/) { names.insert("\(suite.1).\(function.1)") }
        }
        return names
    }
}
