import PipelineModel
import Testing

@Suite("The recent pace")
struct PaceTests {
    private func jobs(_ times: [Double], from begin: Double = 0) -> Pace {
        var pace = Pace(.jobs)
        pace.begin(at: begin)
        for (index, time) in times.enumerated() { pace.take(Int64(index + 1), at: time) }
        return pace
    }

    @Test("there is no rate before there is enough data")
    func proof() {
        #expect(Pace(.jobs).rate(at: 5) == nil)
        #expect(jobs([]).rate(at: 100) == nil)
        #expect(jobs([1, 2]).rate(at: 3) == nil)
        #expect(jobs([0.1, 0.2, 0.3]).rate(at: 0.5) == nil)
        #expect(jobs([1, 2, 3]).rate(at: 3) == 1)
        #expect(jobs([1, 2, 3]).remaining(6, at: 3) == 6)
        #expect(jobs([1, 2]).remaining(6, at: 3) == nil)
    }

    @Test("the rate is that of the last seconds, not of the whole night")
    func recent() throws {
        var pace = Pace(.jobs)
        pace.begin(at: 0)
        for job in 1...1000 { pace.take(Int64(job), at: Double(job) * 10) }
        for job in 1...120 { pace.take(1000 + Int64(job), at: 10_000 + Double(job) * 0.5) }
        let rate = try #require(pace.rate(at: 10_060))
        #expect(abs(rate - 2) < 0.1)
    }

    @Test("jobs that end in bunches, as concurrent jobs do, are not mistaken for fast ones")
    func bunches() throws {
        let times = (1...10).flatMap { bunch in (0..<4).map { Double(bunch) * 20 + Double($0) * 0.01 } }
        for count in [4, 8, 12, 20, 40] {
            let pace = jobs(Array(times.prefix(count)))
            let rate = try #require(pace.rate(at: times[count - 1]))
            #expect(abs(rate - 0.2) < 0.05, "\(count)")
        }
    }

    @Test("the rate of slow jobs comes from the last ones, however long ago they were")
    func slow() throws {
        let rate = try #require(jobs((1...20).map { Double($0) * 60 }).rate(at: 1200))
        #expect(abs(rate - 1 / 60) < 0.001)
    }

    @Test("while nothing ends the rate falls, and a stalled flow has no remaining time")
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

    @Test("a pause discards the earlier measurements")
    func paused() {
        var pace = jobs([1, 2, 3, 4])
        pace.begin(at: 1000)
        #expect(pace.rate(at: 1001) == nil)
        for job in 5...8 { pace.take(Int64(job), at: 1000 + Double(job - 4) * 2) }
        #expect(pace.rate(at: 1008) == 0.5)
    }

    @Test("a new start, or a clock that is set back, restarts the measurement")
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

    @Test("the memory is bounded, and the remaining time is zero when nothing is left")
    func bounded() {
        var flow = Pace(.bytes)
        flow.begin(at: 0)
        for step in 1...100_000 { flow.take(Int64(step), at: Double(step) * 0.01) }
        #expect(abs((flow.rate(at: 1000) ?? 0) - 100) < 5)
        #expect(flow.remaining(-5, at: 1000) == 0)
    }
}
