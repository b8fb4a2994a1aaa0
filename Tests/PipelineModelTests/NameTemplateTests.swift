import Testing

@testable import PipelineModel

struct NameTemplateTests {
    private static let facts = {
        var facts = NameFacts()
        (facts.name, facts.album, facts.recipe, facts.output) = ("IMG_1.JPG", "rome/day 1", "web", "thumb")
        facts.date = PictureDate(exif: "2026:11:04 09:30:05", source: .original)
        (facts.counter, facts.width, facts.height, facts.format) = (7, 1600, 1200, "webp")
        facts.hash = "0123456789abcdef"
        return facts
    }()

    private func name(_ text: String, _ change: (inout NameFacts) -> Void = { _ in }) throws -> String {
        var facts = Self.facts
        change(&facts)
        return try NameTemplate(text).path(facts, suffix: "webp")
    }

    @Test(
        "Each field becomes its value, and the suffix is the format's",
        arguments: [
            ("{stem}", "IMG_1.webp"), ("{name}", "IMG_1.JPG.webp"), ("{recipe} {output}", "web thumb.webp"),
            ("{date}/{stem}", "2026-11-04/IMG_1.webp"), ("{date:%Y/%m}/{stem}", "2026/11/IMG_1.webp"),
            ("{date:%y%m%d-%H%M%S-%j}", "261104-093005-308.webp"), ("{album}/{stem}", "rome/day 1/IMG_1.webp"),
            ("{album}-{stem}", "rome-day 1-IMG_1.webp"), ("{counter}", "7.webp"), ("p{counter:4}", "p0007.webp"),
            ("{stem}-{width}x{height}.{hash:8}", "IMG_1-1600x1200.01234567.webp"),
            ("{stem}.{hash}", "IMG_1.01234567.webp"),
            ("{format}/{stem}", "webp/IMG_1.webp"), ("{stem}.webp", "IMG_1.webp"),
        ])
    func fields(text: String, name: String) throws {
        #expect(try self.name(text) == name)
        #expect(try NameTemplate(text).description == text)
    }

    @Test(
        "An empty field is removed with the separator before it, or after it at the beginning",
        arguments: [
            ("{stem}-{output}", "IMG_1.webp"), ("{output}-{stem}", "IMG_1.webp"), ("{album}/{stem}", "IMG_1.webp"),
            ("{stem}-{output}-{counter:2}", "IMG_1-07.webp"), ("a/{album} - {output}/{stem}", "a/IMG_1.webp"),
            ("{stem} ({output})", "IMG_1 ().webp"), ("{album}_{output}_{stem}", "IMG_1.webp"),
        ])
    func empty(text: String, name: String) throws {
        #expect(try self.name(text) { ($0.album, $0.output) = ("", "") } == name)
    }

    @Test("An unknown field stays as written, and so does its format")
    func unknown() throws {
        let text = "{date:%Y}/{album}/{stem}-{name}-{recipe}-{output}-{counter:4}-{width}x{height}-{format}-{hash:12}"
        #expect(try NameTemplate(text).path(NameFacts(), suffix: "jpg") == text + ".jpg")
    }

    @Test("A distinguishing number precedes the suffix, and the suffix appears once")
    func endings() throws {
        var facts = Self.facts
        facts.name = "album.AVIF"
        let name = try NameTemplate("{name}")
        #expect(name.path(facts, suffix: "avif") == "album.avif")
        #expect(name.path(facts, number: 2, suffix: "avif") == "album-2.avif")
        #expect(name.path(facts, suffix: "jpg") == "album.AVIF.jpg")
        facts.name = ".avif"
        #expect(name.path(facts, suffix: "avif") == "_avif.avif")
    }

    @Test(
        "No value can leave the outbox, enter a hidden folder, or hide a file",
        arguments: [
            "..", ".", "../../etc/passwd", "/etc", ".staging", "...", "a/../b", "a\0b", "a\nb\u{7f}", "\u{85}", "",
            "/\u{308}..", "..\u{308}/x", "{stem}", "%Y", "-rf", "\u{202e}gpj", " ", "a//b/", "\\..\\",
        ])
    func hostile(value: String) throws {
        for text in [
            "{stem}", "{name}", "{album}/{stem}", "{album}-{stem}", "{recipe}/{output}", "{output}/x/{album}x",
        ] {
            let path = try name(text) { facts in
                (facts.name, facts.album, facts.recipe, facts.output) = (value, value, value, value)
            }
            let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            #expect(parts.allSatisfy { !$0.isEmpty && $0.count <= 255 && $0.first != UInt8(ascii: ".") }, "\(path)")
            #expect(path.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(path)")
        }
    }

    @Test("A name is not hidden even if the value before its first dot is shortened to nothing")
    func hiddenByLength() throws {
        let long = String(repeating: "a", count: 250)
        let name = try name("{stem}.{stem}") { $0.name = "\(long).jpg" }
        #expect(name.first == "_" && name.utf8.count == 255, "\(name)")
    }

    @Test(
        "A name of more than 255 bytes loses the ends of its longest values, but no number",
        arguments: [1, 255, 256, 4000])
    func long(length: Int) throws {
        for letter in ["x", "ü", "👨‍👩‍👧‍👦"] {
            let value = String(String(repeating: letter, count: length / letter.utf8.count + 1))
            let path = try name("{album}/{recipe} {stem}-{output}-{counter:9}-{hash:12}-{date}") { facts in
                (facts.name, facts.album, facts.recipe, facts.output) = (value, value, value, value)
            }
            let parts = path.split(separator: "/")
            #expect(parts.count == 2 && parts.allSatisfy { $0.utf8.count <= 255 })
            #expect(path.hasSuffix("-000000007-0123456789ab-2026-11-04.webp"), "\(path)")
        }
    }

    @Test(
        "A mistake is reported with its column and its remedy",
        arguments: [
            ("{sten}", "has the unknown field '{sten}' at column 1; did you mean '{stem}'?"),
            (
                "a/{zzzzzzz}",
                "has the unknown field '{zzzzzzz}' at column 3; it may be {stem}, {name}, {album}, {date}, "
            ),
            ("x{stem:3}", "has '{stem:3}' in it at column 2; write {stem}, which takes nothing else"),
            ("{counter:0}", "has '{counter:0}' in it at column 1; it may be {counter:1} to {counter:9}"),
            ("{counter:10}", "has '{counter:10}' in it at column 1; it may be {counter:1} to {counter:9}"),
            ("{hash:-8}", "has '{hash:-8}' in it at column 1; it may be {hash:4} to {hash:64}"),
            (
                "ü{date:%Q}",
                "has '{date:%Q}' in it at column 2; it may be {date}, or {date:%Y} with %Y, %y, %m, %d, %H, %M, %S and %j"
            ),
            ("{date:}", "has '{date:}' in it at column 1; it may be"), ("{date:%Y//%m}", "has '{date:%Y//%m}' in it"),
            ("{date:..%Y}/x", "has a name that begins with '.' at column 1; begin it otherwise"),
            ("a/{date:%Y/.%m}", "has a name that begins with '.' at column 3"),
            ("a/../{stem}", "has a name that begins with '.' at column 3"),
            (".staging/{stem}", "has a name that begins with '.' at column 1"),
            ("/srv/{stem}", "begins with '/' at column 1; leave it out: names are relative to the outbox"),
            ("a//{stem}", "has a folder without a name at column 3; write one '/'"),
            ("{date}/", "ends with '/' at column 7; name the file after it, such as {stem}"),
            ("{stem", "has a '{' without a '}' at column 1; write a field as {stem}"),
            ("stem}", "has a '}' without a '{' at column 5; write a field as {stem}"),
            ("{stem}\t", "has a control character in it at column 7; take it out"),
            ("a/b/c/d/e/f/g/h/i/j/k", "has too many folders at column 20; it may have 9"),
            ("/\u{308}../{stem}", "begins with '/'"), ("a/\u{308}/x", ""),
        ])
    func refusals(text: String, sentence: String) {
        do throws(Refusal) {
            _ = try NameTemplate(text)
            #expect(sentence.isEmpty, "\(text)")
        } catch {
            #expect(!sentence.isEmpty && error.sentence.hasPrefix(sentence), "\(error.sentence)")
        }
    }

    @Test("Templates have a limited length, so that the picture's name has room")
    func limits() throws {
        _ = try NameTemplate(String(repeating: "x", count: 180) + "{stem}")
        #expect(throws: Refusal.self) { try NameTemplate(String(repeating: "x", count: 181) + "{stem}") }
        #expect(throws: Refusal.self) { try NameTemplate("{hash:64}{hash:64}{hash:64}") }
        #expect(throws: Refusal.self) { try NameTemplate(String(repeating: "ab/", count: 170) + "x") }
    }
}

struct PictureDateTests {
    @Test(
        "EXIF dates are read as the camera wrote them, and invalid dates are ignored",
        arguments: [
            ("2026:11:24 09:30:05", "2026-11-24 09:30:05"), ("2024:02:29 00:00:00", "2024-02-29 00:00:00"),
            ("2026:11:24", "2026-11-24 00:00:00"), ("2026:11:24 24:61:00", "2026-11-24 00:00:00"),
            ("2026:11:24   :  :  ", "2026-11-24 00:00:00"), ("2026:13:01 00:00:00", nil), ("2026:02:29 00:00:00", nil),
            ("2026:00:10 00:00:00", nil), ("0000:00:00 00:00:00", nil), ("    :  :     :  :  ", nil), ("", nil),
            ("2026/11/24 09:30:05", nil), ("../../../..", nil), ("2026:1:2 00:00:00", nil), ("2026:11:+4", nil),
            ("٢٠٢٦:11:24 00:00:00", nil), ("99999:11:24", nil), ("-026:11:24", nil),
        ] as [(String, String?)])
    func exif(text: String, date: String?) {
        let read = PictureDate(exif: text, source: .original)
        #expect(read?.words == date.map { "\($0), from EXIF's DateTimeOriginal" })
    }
}
