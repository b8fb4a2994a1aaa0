import Foundation
import PipelineModel

/// How far an operation is, as its worker tells it, and how fast it has been of late.
struct Figures: Sendable {
    enum Unit: String, Sendable {
        case bytes, pixels, jobs
    }

    let unit: Unit
    private(set) var done: Int64 = 0
    /// Nil as long as nobody knows: a server need not say.
    private(set) var total: Int64?
    private var pace: Pace

    init(_ unit: Unit) {
        self.unit = unit
        pace = Pace(unit == .bytes ? .bytes : .pixels)
    }

    /// It begins, at `done` when something is there from before.
    mutating func begin(done: Int64 = 0, total: Int64? = nil) {
        self = Figures(unit)
        (self.done, self.total) = (done, total)
    }

    /// The first word of it begins the measuring: what came before, connecting or decoding, says nothing of how fast it flows.
    mutating func take(_ done: Int64, of total: Int64?, at time: Double = Timestamp.now()) {
        (self.done, self.total) = (done, total)
        if pace.hasBegun { pace.take(done, at: time) } else { pace.begin(at: time, done: done) }
    }

    func rate(at time: Double) -> Double? { pace.rate(at: time) }

    func remaining(at time: Double) -> Double? {
        total.flatMap { pace.remaining(Double($0 - done), at: time) }
    }
}
