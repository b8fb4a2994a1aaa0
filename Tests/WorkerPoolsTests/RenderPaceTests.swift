import PipelineModel
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("The pace of pictures")
struct RenderPaceTests {
    private let outputs = [RenderOutput(name: nil, stages: [Stage(name: "noir")])]

    @Test("the pace begins with the first picture, and forgets old ones")
    func latest() {
        var pace = RenderPace()
        #expect(pace.expected(outputs) == nil)
        pace.take(.milliseconds(40), for: outputs)
        #expect(pace.expected(outputs) == .milliseconds(40))
        for _ in 0..<100 { pace.take(.milliseconds(100), for: outputs) }
        #expect(pace.expected(outputs).map { $0 > .milliseconds(99) } == true)
    }

    @Test("the pace is kept for a limited number of chains")
    func most() {
        var pace = RenderPace()
        let many = (0...64).map { [RenderOutput(name: "\($0)", stages: [])] }
        for one in many { pace.take(.seconds(1), for: one) }
        #expect(many.filter { pace.expected($0) != nil } == [many[64]])
    }
}

@Suite("The price of lending")
struct LendingPriceTests {
    /// One megabyte of sources. Before any measurement, the estimated price of lending these bytes is 12 ms for both
    /// nodes together.
    private let megabyte = LentBytes.sources([1_000_000])
    private let start = ContinuousClock.now

    private func price(after pictures: Int, each: Duration, every pause: Duration) -> Duration {
        var price = LendingPrice()
        for number in 0...pictures { price.moved(megabyte, by: each * number, now: start + pause * number) }
        return price.of(megabyte)
    }

    @Test("the price is the measured processor time of the fleet process, doubled for the other side")
    func learnt() {
        #expect(LendingPrice().of(megabyte) == .milliseconds(12))
        let dear = price(after: 1000, each: .milliseconds(15), every: .milliseconds(100))
        #expect(dear > .milliseconds(29) && dear < .milliseconds(31), "\(dear)")
        let cheap = price(after: 1000, each: .milliseconds(3), every: .milliseconds(100))
        #expect(cheap > .milliseconds(5) && cheap < .milliseconds(7), "\(cheap)")
    }

    @Test("the price excludes the fleet process's work during long pauses")
    func pauses() {
        #expect(price(after: 1000, each: .seconds(1), every: .seconds(3)) == .milliseconds(12))
    }
}
