import PipelineModel
import Testing

@Suite("The pace of late")
struct PaceTests {
    private func jobs(_ times: [Double], from begin: Double = 0) -> Pace {
        var pace = Pace(.jobs)
        pace.begin(at: begin)
        for (index, time) in times.enumerated() { pace.take(Int64(index + 1), at: time) }
        return pace
    }

    @Test("nothing is said before there is enough to go by")
    func proof() {
        #expect(Pace(.jobs).rate(at: 5) == nil)
        #expect(jobs([]).rate(at: 100) == nil)
        #expect(jobs([1, 2]).rate(at: 3) == nil)
        #expect(jobs([0.1, 0.2, 0.3]).rate(at: 0.5) == nil)
        #expect(jobs([1, 2, 3]).rate(at: 3) == 1)
        #expect(jobs([1, 2, 3]).remaining(6, at: 3) == 6)
        #expect(jobs([1, 2]).remaining(6, at: 3) == nil)
    }

    @Test("it is the rate of the last seconds, not of the whole night")
    func recent() throws {
        var pace = Pace(.jobs)
        pace.begin(at: 0)
        for job in 1...1000 { pace.take(Int64(job), at: Double(job) * 10) }
        for job in 1...120 { pace.take(1000 + Int64(job), at: 10_000 + Double(job) * 0.5) }
        let rate = try #require(pace.rate(at: 10_060))
        #expect(abs(rate - 2) < 0.1)
    }

    @Test("jobs that end in bunches, as when as many run at once, are not taken for fast ones")
    func bunches() throws {
        let times = (1...10).flatMap { bunch in (0..<4).map { Double(bunch) * 20 + Double($0) * 0.01 } }
        for count in [4, 8, 12, 20, 40] {
            let pace = jobs(Array(times.prefix(count)))
            let rate = try #require(pace.rate(at: times[count - 1]))
            #expect(abs(rate - 0.2) < 0.05, "\(count)")
        }
    }

    @Test("slow ones are known by their last, however long ago these were")
    func slow() throws {
        let rate = try #require(jobs((1...20).map { Double($0) * 60 }).rate(at: 1200))
        #expect(abs(rate - 1 / 60) < 0.001)
    }

    @Test("while nothing is done it falls, and a flow that has stopped has no remaining time")
    func stalled() {
        let pace = jobs([1, 2, 3, 4])
        #expect((pace.rate(at: 100) ?? 1) < 0.05)
        var flow = Pace(.bytes)
        flow.begin(at: 0)
        for step in 1...10 { flow.take(Int64(step) * 1000, at: Double(step) * 0.2) }
        #expect(flow.rate(at: 2) == 5000)
        #expect(flow.remaining(10_000, at: 2) == 2)
        #expect(flow.rate(at: 60) == nil)
        #expect(flow.remaining(10_000, at: 60) == nil)
    }

    @Test("after a pause what was before does not count")
    func paused() {
        var pace = jobs([1, 2, 3, 4])
        pace.begin(at: 1000)
        #expect(pace.rate(at: 1001) == nil)
        for job in 5...8 { pace.take(Int64(job), at: 1000 + Double(job - 4) * 2) }
        #expect(pace.rate(at: 1008) == 0.5)
    }

    @Test("a new beginning, and a clock that is set back, begin the measuring again")
    func back() {
        var flow = Pace(.bytes)
        flow.begin(at: 0)
        flow.take(5000, at: 2)
        flow.take(100, at: 3)
        #expect(flow.rate(at: 3) == nil)
        flow.take(1100, at: 5)
        #expect(flow.rate(at: 5) == 500)
        flow.take(1200, at: 1)
        #expect(flow.rate(at: 1) == nil)
    }

    @Test("its memory is bounded, and nothing is left to do when nothing is left")
    func bounded() {
        var flow = Pace(.bytes)
        flow.begin(at: 0)
        for step in 1...100_000 { flow.take(Int64(step), at: Double(step) * 0.01) }
        #expect(abs((flow.rate(at: 1000) ?? 0) - 100) < 5)
        #expect(flow.remaining(-5, at: 1000) == 0)
    }
}
