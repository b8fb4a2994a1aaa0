import Foundation
import Testing

struct PageWordsTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("the page tells a job's story in the words of `pipectl show`")
    func story() throws {
        let page = try Self.text("Gallery/Page/story.js")
        let pipectl = try Self.text("pipectl/Describing/StoryPage.swift")
        let facts = pipectl.matches(of: /fact\("([a-z ]+)"/).map { String($0.1) }
        let meanings = pipectl.matches(of: /case "([a-z]+)": "([^"]+)"/).map { "\($0.1): \"\($0.2)\"" }
        #expect(facts.count > 15 && meanings.count == 7)
        for fact in facts { #expect(page.contains("[\"\(fact)\""), "\(fact)") }
        for meaning in meanings { #expect(page.contains(meaning), "\(meaning)") }
        for word in ["waiting for", "reason", "result", "results", "chain"] {
            #expect(page.contains("\"\(word)\"") && pipectl.contains("\"\(word)\""), "\(word)")
        }
    }
}
