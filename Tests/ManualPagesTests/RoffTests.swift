import ManualPages
import Testing

struct RoffTests {
    private func lines(_ parts: ManualPage.Part...) -> [String] {
        let page = ManualPage("glow", section: 1, summary: "brightens", parts: parts)
        let roff = page.roff(version: "1.0", date: "2026-03-01")
        return roff.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("A page begins with its title and its name")
    func head() {
        #expect(lines().first == ".TH GLOW 1 2026-03-01 \"pipelined 1.0\" pipelined")
        #expect(lines().suffix(3) == [".SH NAME", "glow \\- brightens", ""])
    }

    @Test("Text between backquotes is bold")
    func marks() {
        #expect(lines(.paragraph("a `--b` c `d`")).contains("a \\fB\\-\\-b\\fP c \\fBd\\fP"))
    }

    @Test("A term is bold, and its argument in italics")
    func entries() {
        #expect(
            lines(.entry("--root ", value: "DIR", "it")).suffix(4) == [
                ".TP", "\\fB\\-\\-root \\fP\\fIDIR\\fP", "it", "",
            ])
        #expect(lines(.entry("--all", value: "", "it")).contains("\\fB\\-\\-all\\fP"))
    }

    @Test(
        "Every character is printed as itself",
        arguments: [
            (#"a\b"#, #"a\eb"#), ("it's", #"it\(aqs"#), ("^~", #"\(ha\(ti"#), ("…", #"\[u2026]"#), ("é", #"\[u00E9]"#),
            (".so x", #"\&.so x"#), ("'x", #"\(aqx"#), ("two\nlines", "two lines"),
        ])
    func escapes(text: String, roff: String) {
        #expect(lines(.paragraph(text)).contains(roff))
    }

    @Test("A long paragraph is split into lines, none of which looks like a roff instruction")
    func fills() {
        let word = "/etc/pipelined/recipes.d/", other = ".hidden"
        let page = lines(.paragraph(([word, word, word] + [other]).joined(separator: " ")))
        #expect(page.suffix(4) == [".PP", "\(word) \(word) \(word)", "\\&.hidden", ""])
    }

    @Test("Literal lines stay as they are, including backquotes")
    func literal() {
        #expect(lines(.lines([".a  `b`", "-c"])).contains(#"\&.a  \(gab\(ga"#))
    }
}
