import Testing

@testable import PipelineDaemon

@Suite("Restarting after a crash")
struct CrashPauseTests {
    @Test("the restart is immediate, and slower with each crash in a row, but the daemon never gives up")
    func pauses() {
        var latest = CrashPause(after: nil, at: 1000)
        #expect((latest.crashes, latest.pause) == (0, .zero))
        var pauses: [Int] = []
        for number in 1...100 {
            latest = CrashPause(after: latest.text, at: 1000 + Double(number))
            pauses.append(Int(latest.pause / .seconds(1)))
        }
        #expect(pauses.prefix(10) == [0, 1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(pauses.last == 60)
        // The count restarts in two cases: the daemon has run for a while, or the file with the count is invalid.
        #expect(CrashPause(after: latest.text, at: latest.began + 600).crashes == 1)
        #expect(CrashPause(after: "x", at: 1).crashes == 0)
        #expect(CrashPause(after: "3 5000", at: 1).pause == .zero)
    }
}
