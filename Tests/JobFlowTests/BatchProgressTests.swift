import DaemonRuntime
import Foundation
import JobFlow
import JobModel
import PipelineModel
import Testing

@Suite("A batch's progress")
struct BatchProgressTests {
    private func fraction(_ jobs: [JobState: Int], reached: [Int: Int] = [:]) -> Double {
        var record = BatchRecord(id: 1, name: nil, isOpen: false)
        (record.jobs, record.reached) = (jobs, reached)
        return Coordination.sync { [record] in record.tree(over: []).fractionCompleted }
    }

    @Test("ended jobs count, however they ended, and rows need no objects")
    func ended() {
        #expect(abs(fraction([.queued: 99_000, .done: 900, .failed: 60, .cancelled: 40]) - 0.01) < 1e-9)
        #expect(fraction([.done: 100_000]) == 1)
        #expect(fraction([.done: 2, .queued: 2]) == 0.5)
    }

    @Test("a job at a barrier counts as half done, or as two thirds done at the second of two")
    func barriers() {
        #expect(fraction([.waiting: 4], reached: [1: 4]) == 0.5)
        #expect(abs(fraction([.waiting: 3], reached: [2: 3]) - 0.666) < 1e-3)
        #expect(abs(fraction([.waiting: 2, .queued: 2], reached: [1: 1, 2: 1]) - 0.25) < 1e-3)
    }

    @Test("an empty batch has made no progress")
    func empty() {
        #expect(fraction([:]) == 0)
    }
}
