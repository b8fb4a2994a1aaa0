import Foundation
import PipelineModel
import ServiceProgram

/// An operation's progress, as its worker reports it, and its recent speed.
package struct Figures: Sendable {
    package enum Unit: String, Sendable {
        case bytes, pixels, jobs
    }

    package let unit: Unit
    package private(set) var done: Int64 = 0
    /// Nil while the total is unknown. Servers may omit it.
    package private(set) var total: Int64?
    private var pace: Pace
    private var began: Double
    /// When the worker last reported progress.
    private var heard: Double?
    /// The largest estimate that may have been shown. Progress never falls below it.
    private var shown: Int64 = 0

    package init(_ unit: Unit, at time: Double = Timestamp.now()) {
        self.unit = unit
        began = time
        pace = Pace(unit == .bytes ? .bytes : .pixels)
    }

    /// Begins the measurement. `done` is work that exists already, such as the part of a resumed download.
    package mutating func begin(done: Int64 = 0, total: Int64? = nil, at time: Double = Timestamp.now()) {
        self = Figures(unit, at: time)
        (self.done, self.total) = (done, total)
    }

    /// Records a report. The first report starts the measurement of speed, because the time before it was spent on
    /// connecting or decoding.
    package mutating func take(_ done: Int64, of total: Int64?, at time: Double = Timestamp.now()) {
        if let estimate = estimate(at: time) { shown = max(shown, Int64(estimate.done)) }
        let (done, total) = (Self.sensible(done), total.map(Self.sensible))
        (self.done, self.total, heard) = (done, total, time)
        if pace.hasBegun { pace.take(done, at: time) } else { pace.begin(at: time, done: done) }
    }

    /// Limits a number to a range that is safe for arithmetic, because a worker may report an absurd number.
    private static func sensible(_ number: Int64) -> Int64 { min(max(0, number), 1 << 53) }

    package func rate(at time: Double) -> Double? { pace.rate(at: time) }

    package func remaining(at time: Double) -> Double? {
        if let estimate = estimate(at: time) { return estimate.remaining }
        return total.flatMap { pace.remaining(Double($0 - done), at: time) }
    }

    /// Returns the progress at `time`, which is never less than the reported progress. An estimate never reaches the
    /// total.
    package func done(at time: Double) -> Int64 { max(shown, estimate(at: time).map { Int64($0.done) } ?? done) }

    /// Seconds without a report before progress is estimated.
    private static let patience = 1.0
    /// Beyond this fraction, an estimate approaches the total more and more slowly.
    private static let certain = 0.95

    /// Estimates progress while an encoder compresses the whole picture, because the worker reports nothing during that
    /// time. The rate from before the encoder started still applies: in the progress that the worker reports, each part
    /// of the work counts in proportion to the time that it takes.
    private func estimate(at time: Double) -> (done: Double, remaining: Double)? {
        guard unit == .pixels, let heard, let total, total > 0, done > 0, time - heard >= Self.patience else {
            return nil
        }
        let sinceBegun = heard > began ? Double(done) / (heard - began) : nil
        guard let rate = pace.rate(at: heard) ?? sinceBegun, rate > 0 else { return nil }
        let reached = (Double(done) + rate * (time - heard - Self.patience)) / Double(total)
        let rest = 1 - Self.certain
        let fraction = reached < Self.certain ? reached : 1 - rest * rest / (reached - Self.certain + rest)
        let now = max(Double(done), fraction * Double(total))
        return (now, (Double(total) - now) / rate)
    }
}
