import Testing

@testable import PipelineModel

@Suite("Rules of retention")
struct KeepRuleTests {
    @Test(
        "a rule is an age, a size, both in any order, or everything, and is written as it is read",
        arguments: [
            ("keep", nil, nil, "keep"), ("90d", 90 * 86_400, nil, "90d"), ("200G", nil, 200 << 30, "200G"),
            ("90d 200G", 90 * 86_400, 200 << 30, "90d 200G"), (" 200G  90d ", 90 * 86_400, 200 << 30, "90d 200G"),
            ("1h30min", 5400, nil, "1h30min"), ("1s", 1, nil, "1s"), ("1K", nil, 1024, "1K"),
            ("1024T", nil, 1 << 50, "1024T"),
        ] as [(String, Int?, Int64?, String)])
    func read(text: String, seconds: Int?, bytes: Int64?, written: String) throws {
        let rule = try KeepRule(text)
        #expect(rule == KeepRule(age: seconds.map { .seconds($0) }, size: bytes))
        #expect(rule.text == written)
        #expect(try KeepRule(rule.text) == rule)
        #expect(rule.keepsEverything == (written == "keep"))
    }

    @Test(
        "invalid rules are refused with the reason",
        arguments: [
            ("90", "Archive=90 is neither an age nor a size; write keep, an age as 90d"),
            ("keep 90d", "has 'keep' in it"), ("1d 2d", "has two ages"), ("1G 2G", "has two sizes"),
            ("1d 2G 3d", "is not a rule"), ("200GB", "is neither an age nor a size"),
            ("-1d", "is neither an age nor a size"),
            ("500ms", "has an age out of range; it may be 1s to 36500d"),
            ("0K", "has a size out of range; it may be 1K to 1024T"), ("2000T", "has a size out of range"),
        ])
    func refused(text: String, words: String) {
        var settings = Settings()
        do {
            try settings.set("Archive", in: "Keep", to: text, source: "test.conf")
            Issue.record("\(text) was taken")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
        #expect(settings.keep.keepsEverything)
    }

    @Test("everything is kept by default, and each place has its own rule")
    func places() throws {
        var settings = Settings()
        #expect(settings.keep.keepsEverything)
        try settings.set("Failed", in: "Keep", to: "30d", source: "test.conf")
        #expect(!settings.keep.keepsEverything)
        #expect(settings.keep[.failed].text == "30d" && settings.keep[.archive].keepsEverything)
        try settings.set("Failed", in: "Keep", to: "", source: "test.conf")
        #expect(settings.keep.keepsEverything)
    }
}
