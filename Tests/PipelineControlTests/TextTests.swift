import Glibc
import PipelineControl
import SystemCalls
import Testing

@testable import pipectl

struct TextTests {
    init() {
        setlocale(LC_CTYPE, "C.UTF-8")
    }

    @Test("Only a text's own literals are not escaped")
    func escaping() {
        let name = "a\tb\u{1b}[2J"
        let text: Text = "→ \(name)"
        #expect(text.rendered(color: false) == #"→ a\tb\u{1b}[2J"#)
        #expect("Größe 写真 🙂 é".printable == "Größe 写真 🙂 é")
    }

    @Test("Width is counted in terminal columns", arguments: [("abc", 3), ("写真", 4), ("e\u{301}", 1), ("é", 1)])
    func width(text: String, columns: Int) {
        #expect(text.columns == columns)
    }

    @Test("Shortening keeps both ends and never exceeds the limit", arguments: 1...30)
    func shortening(limit: Int) {
        for text in ["2026-03-01-harbour-at-dawn.jpg", "写真写真写真写真写真写真写真写真.jpg"] {
            let short = text.shortened(to: limit)
            #expect(short.columns <= limit)
            if limit >= text.columns { #expect(short == text) }
        }
        #expect("harbour.jpg".shortened(to: 7) == "har…jpg")
        #expect("/srv/outbox/web/harbour.jpg".shortened(to: 20) == "…/web/harbour.jpg")
        #expect("/srv/outbox/web/harbour.jpg".shortened(to: 11) == "harbour.jpg")
        #expect("/srv/outbox/web/harbour.jpg".shortened(to: 7) == "har…jpg")
    }

    @Test("A table fits into its width if its elastic columns allow it")
    func table() {
        var table = Table([.init(title: "ID", right: true), .init(title: "NAME", fit: .name), .init(title: "STATE")])
        table.add("1", Text(String(repeating: "n", count: 300)), Text("running", .busy))
        table.add("22", "short", Text())
        let lines = table.lines(width: 40)
        #expect(lines.allSatisfy { $0.columns <= 40 })
        #expect(lines[1].rendered(color: false).hasSuffix("  running"))
        #expect(lines[2].rendered(color: false) == "22  short")
    }

    @Test("Words continue on the next line, with their beginning first, whatever the width", arguments: 1...40)
    func folding(width: Int) {
        let reason: Text = "the server answers \("503", .bad) (写真写真写真写真写真写真写真写真写真写真写真 is not available)"
        let lines = reason.folded(to: width)
        #expect(lines.allSatisfy { $0.columns <= max(2, width) })
        let words = lines.map { $0.rendered(color: false) }.joined().filter { $0 != " " }
        #expect(words == reason.rendered(color: false).filter { $0 != " " })
        for most in 1...4 {
            let few = reason.folded(to: width, most: most)
            #expect(few.count <= most && few.allSatisfy { $0.columns <= max(2, width) })
            let last = few.last?.rendered(color: false) ?? ""
            #expect(last.hasSuffix("…") == (lines.count > most) && !last.hasSuffix("……"), "\(last)")
        }
    }

    @Test("A path that is wider than its column continues after a slash, and a number keeps its unit")
    func breaks() {
        func folded(_ text: String, _ width: Int) -> [String] {
            Text(text).folded(to: width).map { $0.rendered(color: false) }
        }
        #expect(folded("/srv/outbox/web/harbour.jpg", 16) == ["/srv/outbox/web/", "harbour.jpg"])
        #expect(folded("cubic|mitchell|lanczos3", 15) == ["cubic|mitchell|", "lanczos3"])
        #expect(folded("12 results 1.2 MB", 14) == ["12 results", "1.2 MB"])
        #expect(folded("abcdefgh", 3) == ["abc", "def", "gh"])
    }

    @Test("A line that is wider than the terminal continues below, indented; a longer word stays whole for copying")
    func wrapping() {
        let line: Text = "  wrote \("/srv/outbox/web/harbour.jpg") for you"
        #expect(
            line.wrapped(to: 16).map { $0.rendered(color: false) } == [
                "  wrote", "    /srv/outbox/web/harbour.jpg", "    for you",
            ])
        #expect(line.wrapped(to: 80).count == 1)
    }

    @Test(
        "On narrow terminals the least important columns go first; names keep their ends, reasons their beginnings",
        arguments: [60, 80])
    func narrow(width: Int) {
        var table = Table([
            .init(title: "ID", right: true), .init(title: "CREATED", spare: 1), .init(title: "NAME", fit: .name),
            .init(title: "OUTCOME", fit: .words),
        ])
        let time = String(repeating: "0", count: 19)
        table.add(
            "1", Text(time), .name("example.com/albums/2026/lucerne/photo-0001.jpg"),
            "retry at 09:31:00 (1 of 5): the server answers 503 (not available), and says no more")
        table.add("2", Text(time), .name("harbour.jpg"), .name("/srv/outbox/noir/some/folder/below/it/harbour-1.jpg"))
        table.note("what there is to say below a row, in as many lines as that takes where it is narrow")
        let lines = table.lines(width: width).map { $0.rendered(color: false) }
        #expect(lines.allSatisfy { $0.columns <= width })
        #expect(lines[0].contains("CREATED") == (width == 80))
        #expect(lines[1].contains("photo-0001.jpg  retry at 09:31:00"))
        #expect(lines.contains { $0.contains("says no more") })
        #expect(lines.contains { $0.hasSuffix("harbour-1.jpg") })
        #expect(table.lines(width: nil).count == 4)
    }

    @Test(
        "A URL is shown by host and path",
        arguments: [
            ("https://example.com:8080/a/b.jpg?token=…#x", "example.com:8080/a/b.jpg"),
            ("https://…@example.com/a.jpg", "…@example.com/a.jpg"), ("http://example.com", "example.com"),
            ("https://example.com?key=…", "example.com"), ("odd", "odd"),
        ])
    func webNames(url: String, name: String) {
        #expect(WebName.short(url) == name)
    }

    @Test("Times and sizes are written for people")
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
