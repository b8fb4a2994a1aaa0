import PipelineModel
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("The pace of pictures")
struct RenderPaceTests {
    private let outputs = [RenderOutput(name: nil, stages: [Stage(name: "noir")])]

    @Test("counts a picture as if it had a processor of its own, and forgets the old ones")
    func shared() {
        var pace = RenderPace()
        #expect(pace.expected(outputs) == nil)
        pace.take(.milliseconds(80), workers: 4, processors: 2, for: outputs)
        #expect(pace.expected(outputs) == .milliseconds(40))
        pace.take(.milliseconds(40), workers: 1, processors: 2, for: outputs)
        #expect(pace.expected(outputs) == .milliseconds(40))
        for _ in 0..<100 { pace.take(.milliseconds(100), workers: 2, processors: 2, for: outputs) }
        #expect(pace.expected(outputs).map { $0 > .milliseconds(99) } == true)
    }

    @Test("keeps some chains, and not any number")
    func most() {
        var pace = RenderPace()
        let many = (0...64).map { [RenderOutput(name: "\($0)", stages: [])] }
        for one in many { pace.take(.seconds(1), workers: 1, processors: 1, for: one) }
        #expect(many.filter { pace.expected($0) != nil } == [many[64]])
    }
}
