import Foundation
import Testing

@Suite("docs/programs-on-other-machines.md")
struct RouteTests {
    private static let project = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.project.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("The table has exactly the routes of the gallery")
    func table() throws {
        let source = try text("Sources/Gallery/Site/GallerySite.swift")
        // In the source, a route names the first part of a path and the number of all its parts, as in `case ("try",
        // 2...3):`.
        let routes = source.matches(of: /\("([a-z]+)", ([0-9])(?:\.\.\.([0-9]))?\)/).flatMap { match in
            let least = Int(match.2) ?? 0
            return (least...(match.3.flatMap { Int($0) } ?? least)).map { "\(match.1) \($0)" }
        }
        let rows = try text("docs/programs-on-other-machines.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let documented = rows.flatMap { $0.split(separator: " | ")[0].matches(of: /[A-Z]+ \/([a-z]+)([\/A-Za-z]*)/) }
            .map { "\($0.1) \($0.2.count { $0 == "/" } + 1)" }
        #expect(routes.count > 10)
        #expect(Set(documented) == Set(routes))
    }
}
