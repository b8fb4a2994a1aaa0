import DaemonRuntime
import Testing

@testable import PipelineDaemon

@Suite("What is kept apart in a burst")
struct SpacingTests {
    @Test("the first waits for nobody, nor does one that comes alone")
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

    @Test("whoever comes right behind waits for others as long as there are any, but not for ever")
    func behind() {
        var spacing = Spacing()
        spacing.keep { true }
        var asked = 0
        spacing.keep {
            asked += 1
            return true
        }
        #expect(asked <= 4)
        asked = 0
        spacing.keep {
            asked += 1
            return false
        }
        #expect(asked <= 1)
    }
}
