import Testing

@testable import JobFlow

@Suite("Progress figures of an operation")
struct FiguresTests {
    @Test("progress grows at its previous rate while an encoder is silent, and is complete only when the encoder is")
    func encoding() throws {
        var figures = Figures(.pixels)
        figures.begin(total: 1000, at: 0)
        // The worker has read all pixels, which takes about a fiftieth of the time of an AVIF's render.
        figures.take(20, of: 1000, at: 0.5)
        #expect(figures.done(at: 0.6) == 20)
        let middle = figures.done(at: 12)
        #expect(middle > 400 && middle < 500)
        let remaining = try #require(figures.remaining(at: 12))
        #expect(remaining > 10 && remaining < 15)
        var last = 0.0
        for time in [25.0, 30, 60, 600, 6000] {
            let (done, left) = (figures.done(at: time), try #require(figures.remaining(at: time)))
            #expect(done >= Int64(last) && done < 1000 && left > 0)
            last = Double(done)
        }
        // A report below the shown figure does not lower the figure. A report above the figure raises it.
        let told = figures.done(at: 6001)
        figures.take(990, of: 1000, at: 6001)
        #expect(told > 990 && figures.done(at: 6001) == told)
        figures.take(1000, of: 1000, at: 6002)
        #expect(figures.done(at: 6002) == 1000)
    }
}
