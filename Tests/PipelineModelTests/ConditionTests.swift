import Testing

@testable import PipelineModel

@Suite("Conditions of outputs")
struct ConditionTests {
    private static let facts: PictureFacts = {
        var facts = PictureFacts(format: "jpeg", width: 6000, height: 4000, pages: 1)
        (facts.rating, facts.label, facts.keywords) = (2, "Red", ["Print", "Alps"])
        (facts.camera, facts.lens, facts.iso) = ("Canon EOS R5", nil, 6400)
        facts.date = PictureDate(year: 2026, month: 11, day: 28, source: .original)
        return facts
    }()
    private static let place = PicturePlace(folder: "lucerne/day 2", name: "IMG_1.JPG")

    private func verdict(_ text: String) throws -> Condition.Verdict {
        try Condition(text).verdict(Self.facts, Self.place)
    }

    @Test(
        "a condition that the picture meets",
        arguments: [
            "rating >= 2", "rating<3", "rating != 3", "width = 6000", "height > 3999.5", "edge <= 6000",
            "megapixels >= 24", "pages = 1", "iso > 3200", "orientation = landscape", "orientation != portrait",
            "format = JPEG", "label = red", "keyword = print", "keyword = al*", "keyword != sea", "camera = *eos*",
            "lens != RF*", "date = 2026", "date = 2026-11", "date >= 2026-11-28", "date < 2027", "date <= 2026",
            "folder = lucerne/*", "folder = \"lucerne/day 2\"", "name = img_?.jpg",
            "not rating > 2 and orientation = landscape", "rating > 4 or iso > 3200 and width > 1",
            "(rating > 4 or iso > 3200) and not (format = png or format = tiff)",
        ])
    func met(text: String) throws {
        let verdict = try verdict(text)
        #expect(verdict.isMet, "\(verdict)")
    }

    @Test(
        "a condition that the picture does not meet says why",
        arguments: [
            ("rating >= 3", "rating 2 is below 3"), ("rating > 2", "rating 2 is at most 2"),
            ("iso <= 1600", "iso 6400 is above 1600"),
            ("orientation = portrait", "orientation 'landscape' is not portrait"),
            ("orientation != landscape", "orientation is 'landscape'"), ("keyword = sea", "no keyword is sea"),
            ("camera = *Leica*", "camera 'Canon EOS R5' is not *Leica*"), ("lens = RF*", "the picture has no lens"),
            ("date > 2026-11", "date 2026-11-28 is at most 2026-11"),
            ("megapixels < 12.5", "megapixels 24 is at least 12.5"),
            ("rating >= 3 or iso < 100", "rating 2 is below 3, and iso 6400 is at least 100"),
            ("format = jpeg and not keyword = print", "keyword is 'Print'"),
            ("width > 7000 and rating = 5", "width 6000 is at most 7000"),
        ])
    func unmet(text: String, reason: String) throws {
        let verdict = try verdict(text)
        #expect(!verdict.isMet && verdict.words == reason, "\(verdict)")
    }

    @Test(
        "a mistake is reported with its column and advice",
        arguments: [
            ("ratin >= 3", "has the unknown fact 'ratin' at column 1; did you mean 'rating'?"),
            ("rating >= three", "compares 'rating' with 'three' at column 11; write a number, as rating >= 3"),
            ("rating", "has no comparison after 'rating' at column 7; write one of = != < <= > >="),
            ("rating >", "has no value after 'rating >' at column 9"),
            ("(rating > 1", "has a '(' without a ')' at column 1"),
            ("rating > 1)", "has ')' where it should end at column 11; put 'and' or 'or' between two comparisons"),
            (
                "rating > 1 iso > 2",
                "has 'iso' where it should end at column 12; put 'and' or 'or' between two comparisons"
            ),
            ("rating > 1 and", "lacks a comparison at column 15; write one, as rating >= 3"),
            ("orientation = portrat", "compares 'orientation' with 'portrat' at column 15; did you mean 'portrait'?"),
            ("camera > a", "has '>' after 'camera', which has no order at column 10; use = or !="),
            (
                "date > 28.11.2026",
                "compares 'date' with '28.11.2026' at column 8; write a year, a month or a day, as 2026, "
                    + "2026-11 or 2026-11-28"
            ),
            ("camera = \"EOS", "has a quotation mark without its partner at column 10"),
        ])
    func mistake(text: String, message: String) {
        #expect { try Condition(text) } throws: { ($0 as? Refusal)?.sentence == message }
    }

    @Test("the limits on comparisons and nesting are exact")
    func limits() throws {
        func comparisons(_ count: Int) -> String {
            Array(repeating: "iso > 1", count: count).joined(separator: " and ")
        }
        #expect(try verdict(comparisons(100)).isMet)
        #expect(throws: Refusal.self) { try Condition(comparisons(101)) }
        func nested(_ count: Int) -> String {
            String(repeating: "(", count: count) + "iso > 1" + String(repeating: ")", count: count)
        }
        #expect(try verdict(nested(19)).isMet)
        #expect(throws: Refusal.self) { try Condition(nested(20)) }
        #expect(throws: Refusal.self) { try Condition(String(repeating: "not ", count: 100_000) + "iso > 1") }
    }

    @Test("the conditions of a recipe and of its output must both be met")
    func both() throws {
        let both = try Condition("rating >= 1").and(Condition("format = png or format = tiff"))
        #expect(both.text == "(rating >= 1) and (format = png or format = tiff)")
        #expect(both.verdict(Self.facts, Self.place).words == "format 'jpeg' is not png, and format 'jpeg' is not tiff")
        #expect(try Condition(both.text).verdict(Self.facts, Self.place) == both.verdict(Self.facts, Self.place))
    }
}
