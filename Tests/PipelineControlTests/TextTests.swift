import Glibc
import PipelineControl
import Testing

@testable import pipectl

struct TextTests {
    init() {
        setlocale(LC_CTYPE, "C.UTF-8")
    }

    @Test("Only a text's own literals are taken as they are")
    func escaping() {
        let name = "a\tb\u{1b}[2J"
        let text: Text = "→ \(name)"
        #expect(text.rendered(color: false) == #"→ a\tb\u{1b}[2J"#)
        #expect("Größe 写真 🙂 é".printable == "Größe 写真 🙂 é")
    }

    @Test("Width is counted in columns of the terminal", arguments: [("abc", 3), ("写真", 4), ("e\u{301}", 1), ("é", 1)])
    func width(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test("Shortening keeps both ends and never goes over", arguments: 1...30)
    func shortening(limit: Int) {
        for text in ["2026-03-01-harbour-at-dawn.jpg", "写真写真写真写真写真写真写真写真.jpg"] {
            let short = text.shortened(to: limit)
            #expect(short.columns <= limit)
            if limit >= text.columns { #expect(short == text) }
        }
        #expect("harbour.jpg".shortened(to: 7) == "har…jpg")
    }

    @Test("A table fits into its width when its elastic columns let it")
    func table() {
        var table = Table([.init(title: "ID", right: true), .init(title: "NAME", elastic: true), .init(title: "STATE")])
        table.add("1", Text(String(repeating: "n", count: 300)), Text("running", .busy))
        table.add("22", "short", Text())
        let lines = table.lines(width: 40)
        #expect(lines.allSatisfy { $0.columns <= 40 })
        #expect(lines[1].rendered(color: false).hasSuffix("  running"))
        #expect(lines[2].rendered(color: false) == "22  short")
    }

    @Test("Times and sizes read as people say them")
    func amounts() {
        #expect(Moment.duration(45) == "45 s")
        #expect(Moment.duration(125) == "2 min 5 s")
        #expect(Moment.duration(3 * 3600 + 12 * 60) == "3 h 12 min")
        #expect(Moment.duration(200_000) == "2 d 7 h")
        #expect(Amount.bytes(820) == "820 B")
        #expect(Amount.bytes(4_100_000) == "4.1 MB")
        #expect(Amount.bytes(99_960) == "100.0 kB")
        #expect(Moment.seconds("2026-03-01T09:30:00Z") == Moment.seconds("2026-03-01T09:30:00.000Z"))
        #expect(Moment.local("not a time") == "not a time")
    }
}
