import Testing

@testable import PipelineModel

struct SpellingTests {
    @Test("Another program's word is answered with our name for it, and one format is not a misspelling of another")
    func suggestions() {
        let filters = ["grain", "mono", "noir", "resize"]
        for word in ["gray", "grey", "Grayscale"] {
            #expect(suggestion(for: word, among: filters) == "did you mean 'mono'?")
        }
        #expect(suggestion(for: "gray", among: ["grain"]) == "did you mean 'grain'?")
        #expect(suggestion(for: "jp2", among: ["jpeg", "png"]) == "it may be jpeg, png")
        #expect(suggestion(for: "jpg", among: ["jpeg", "png"]) == "did you mean 'jpeg'?")
    }

    @Test(
        "Durations are read as systemd writes them",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("5s", .seconds(5)), ("10min", .seconds(600)),
            ("1h", .seconds(3600)),
            ("30d", .seconds(2_592_000)), ("1h 30min", .seconds(5400)), ("1h30min", .seconds(5400)), ("7", .seconds(7)),
            ("0", .zero), ("1.5s", .milliseconds(1500)), ("250 ms", .milliseconds(250)), (" 3us ", .microseconds(3)),
        ])
    func durations(text: String, duration: Duration) {
        #expect(Duration(text: text) == duration)
    }

    @Test(
        "An invalid duration is refused",
        arguments: ["", " ", "s", "5 parsecs", "-5s", "1..5s", "99999999999d", "5M"])
    func badDurations(text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test(
        "A duration is written as briefly as possible, and read back unchanged",
        arguments: [
            (Duration.milliseconds(300), "300ms"), (.seconds(300), "5min"), (.seconds(5400), "1h 30min"),
            (.milliseconds(1500), "1s 500ms"), (.zero, "0s"), (.seconds(86400), "1d"), (.nanoseconds(1), "1ns"),
        ])
    func writtenDurations(duration: Duration, text: String) {
        #expect(duration.text == text)
        #expect(Duration(text: text) == duration)
    }

    @Test("Pixels are counted in 1000s, bytes in 1024s")
    func magnitudes() {
        #expect(Magnitude.pixels.number("268M") == 268_000_000)
        #expect(Magnitude.bytes.number("512M") == 512 << 20)
        #expect(Magnitude.bytes.number("1G") == 1 << 30)
        #expect(Magnitude.pixels.number("42") == 42)
        #expect(Magnitude.pixels.text(268_000_000) == "268M")
        #expect(Magnitude.pixels.text(1_500_000) == "1500K")
        #expect(Magnitude.bytes.text(0) == "0")
        for text in ["", "M", "-1M", "1.5M", "1m", "99999999T"] {
            #expect(Magnitude.pixels.number(text) == nil, "\(text)")
        }
    }

    @Test(
        "A pattern matches names in any case",
        arguments: [
            ("*.jpg", "Photo.JPG", true), ("*.jpg", "photo.jpeg", false), ("*", "", true), ("?.png", "a.png", true),
            ("?.png", ".png", false), ("img[0-9]*", "IMG7.tif", true), ("img[!0-9]*", "img7", false),
            ("img[!0-9]*", "imgx", true), ("a[b", "a[b", true), ("a[]]", "a]", true), ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "xxbxxa", false), ("a*a*a*a*a*a*b", String(repeating: "a", count: 500), false),
            ("caf\u{E9}*", "CAFE\u{301}.jpg", true), ("*.*", "name", false),
        ])
    func globs(pattern: String, name: String, matches: Bool) {
        #expect(Glob(pattern).matches(name) == matches)
    }

    @Test("The nearest word allows for a letter or two, a swap, a missing end and the case, and no more")
    func nearestWord() {
        #expect(nearest("niro", among: ["blur", "noir", "save"]) == "noir")
        #expect(nearest("Chian", among: ["Chain"]) == "Chain")
        #expect(nearest("settle", among: ["Watch", "Settle"]) == "Settle")
        #expect(nearest("conc", among: ["cancel", "concurrency"]) == "concurrency")
        #expect(nearest("sepia", among: ["save", "resize"]) == nil)
        #expect(nearest("x", among: ["noir"]) == nil)
    }

    @Test("A queue's limit is auto or 0 to 1024")
    func queueLimits() {
        #expect(QueueLimit("auto") == .auto)
        #expect(QueueLimit("0") == .count(0))
        #expect(QueueLimit("1024") == .count(1024))
        for text in ["1025", "-1", "", "many", "1.5"] { #expect(QueueLimit(text) == nil, "\(text)") }
        #expect(QueueLimit.count(3).description == "3")
    }
}
