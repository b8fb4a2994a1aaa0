import DaemonRuntime
import Testing

@Suite("Work that is kept apart in a burst")
struct SpacingTests {
    @Test("the first waits for nobody, nor does a call that comes alone")
    func first() {
        var spacing = Spacing()
        var asked = 0
        for _ in 0..<3 {
            spacing.keep {
                asked += 1
                return true
            }
            spacing.forget()
        }
        #expect(asked == 0)
    }

    @Test("a call right behind another waits as long as others are on their way, but not for ever")
    func behind() {
        #expect((1...3).contains(questions(others: true)))
        #expect(questions(others: false) == 1)
    }

    /// How often the second of two calls asks for others. A busy machine may be so late that it need not ask: the next pair does.
    private func questions(others: Bool) -> Int {
        for _ in 0..<1000 {
            var spacing = Spacing()
            spacing.keep { true }
            var asked = 0
            spacing.keep {
                asked += 1
                return others
            }
            if asked > 0 { return asked }
        }
        return 0
    }
}
