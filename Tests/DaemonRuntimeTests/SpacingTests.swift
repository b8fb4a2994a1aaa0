import DaemonRuntime
import Testing

@Suite("Spacing of the work in a burst")
struct SpacingTests {
    @Test("neither the first call nor a lone call waits")
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

    @Test("a call right after another waits while others are on their way, up to a limit")
    func behind() {
        #expect((1...3).contains(questions(others: true)))
        #expect(questions(others: false) == 1)
    }

    /// Calls `keep` twice in a row. Returns how often the second call asks whether more requests are about to arrive.
    /// On a busy machine, the second call may come too late to ask. In that case, this method starts over.
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
