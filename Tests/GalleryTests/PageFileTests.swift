import Foundation
import Testing

@testable import Gallery

@Suite("The files of the gallery's page")
struct PageFileTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../Sources/Gallery/Page").standardized
    private static let names = Result { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
    }

    @Test("Every file is served unchanged, and nothing else is")
    func all() throws {
        let names = try Self.names.get()
        #expect(names.count > 20)
        #expect(Set(PageFile.all.keys) == Set(names.map { $0 == "index.html" ? "/" : "/\($0)" }))
        for name in names {
            let file = try #require(PageFile.all[name == "index.html" ? "/" : "/\(name)"])
            #expect(try Data(file.bytes) == Data(contentsOf: Self.folder.appendingPathComponent(name)), "\(name)")
        }
    }

    @Test("Each file states its purpose, is short, and builds no HTML from data")
    func style() throws {
        for name in try Self.names.get() where ![".html", ".webp"].contains(where: name.hasSuffix) {
            let text = try text(name)
            let comment = ["js": "// ", "css": "/* ", "svg": "<!-- "][(name as NSString).pathExtension] ?? "none"
            #expect(text.hasPrefix(comment), "\(name) begins with a comment")
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 300, "\(name) is long")
            for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
                #expect(!text.contains(word), "\(name) has \(word)")
            }
        }
    }

    @Test("Imported files and names exist")
    func imports() throws {
        let statement = try Regex(#"import (?:\* as \w+|\{([^}]*)\}) from "\./([a-z]+\.js)";"#)
        for name in try Self.names.get() where name.hasSuffix(".js") {
            for match in try text(name).matches(of: statement) {
                let other = try text(String(try #require(match.output[2].substring)))
                let words = match.output[1].substring?.split(separator: ",") ?? []
                for word in words {
                    let wanted = try #require(word.split(whereSeparator: \.isWhitespace).first)
                    let kinds = ["const", "let", "function", "async function", "class"]
                    #expect(kinds.contains { other.contains("export \($0) \(wanted)") }, "\(name) imports \(wanted)")
                }
            }
        }
    }
}
