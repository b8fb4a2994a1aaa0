import Foundation
import Testing

/// Checks the links and the layout of the documents.
struct DocumentTests {
    /// The pages that packaging/install.sh installs, in the same layout as in the repository.
    private static let pages = Result {
        let project = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized
        let below = try FileManager.default.subpathsOfDirectory(atPath: project.path + "/docs").map { "docs/\($0)" }
        let paths = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] + below
        return Dictionary(
            uniqueKeysWithValues: try paths.map { path in
                let page = project.appendingPathComponent(path)
                return (path, path.hasSuffix(".md") ? try String(contentsOf: page, encoding: .utf8) : "")
            })
    }

    @Test("Every link leads to an existing page or heading, even in the installed documents")
    func links() throws {
        let pages = try Self.pages.get()
        var count = 0
        for (path, text) in pages {
            for link in text.matches(of: /\]\(([^)\s]+)\)/).map(\.1) where !link.contains("://") {
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? path : Self.path(String(parts[0]), from: path)
                let isThere = pages[target] != nil || pages.keys.contains { $0.hasPrefix(target + "/") }
                #expect(isThere, "\(path) links to \(link)")
                if parts.count > 1 {
                    #expect(Self.anchors(pages[target] ?? "").contains(String(parts[1])), "\(path) links to \(link)")
                }
                count += 1
            }
        }
        #expect(count > 100)
    }

    private static func path(_ link: String, from page: String) -> String {
        let url = URL(fileURLWithPath: "/\(page)").deletingLastPathComponent().appendingPathComponent(link)
        return String(url.standardized.path.dropFirst())
    }

    /// Returns the anchors of the headings. An anchor is the heading in lower case, with hyphens for spaces and without
    /// other punctuation.
    private static func anchors(_ text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
            heading.drop { $0 == "#" }.dropFirst().lowercased().replacingOccurrences(of: " ", with: "-")
                .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        }
    }
}
