import SystemCalls
import Testing

@Suite("The order of names")
struct NaturalOrderTests {
    private func sorted(_ names: [String]) -> [String] {
        names.map { (name: $0, order: NaturalOrder($0)) }.sorted { $0.order < $1.order }.map(\.name)
    }

    @Test(
        "numbers sort by value, capitals beside small letters, and files before folders",
        arguments: [
            ["img1", "img2", "img10"], ["img01.png", "img1.png", "img2.png"], ["a", "B", "c"], ["A", "a", "b"],
            ["a/2.png", "a/10.png", "a/b/1.png", "a/c/1.png", "b/1.png"], ["z.png", "a/1.png"], ["", "0", "1", "1a"],
            ["a", "a1", "a1b", "a2"], ["day 9", "day 10", "day 10a"], ["ä", "ö"],
            ["9", "99999999999999999999999", "100000000000000000000000"], ["0", "00", "1"],
        ])
    func order(names: [String]) {
        #expect(sorted(names.reversed()) == names)
        #expect(sorted(names) == names)
        for (index, name) in names.enumerated() {
            for (other, otherName) in names.enumerated() {
                #expect((NaturalOrder(name) < NaturalOrder(otherName)) == (index < other))
            }
        }
    }
}
