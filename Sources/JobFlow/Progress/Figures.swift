import DaemonRuntime
import Foundation
import PipelineModel

/// How far an operation is, as its worker tells it, and how fast it has been of late.
package struct Figures: Sendable {
    package enum Unit: String, Sendable {
        case bytes, pixels, jobs
    }

    package let unit: Unit
    package private(set) var done: Int64 = 0
    /// Nil as long as nobody knows: a server need not say.
    package private(set) var total: Int64?
    private var pace: Pace
    private var began: Double
    /// When its worker last reported progress.
    private var heard: Double?
    /// The largest estimate that may have been told: figures do not go back.
    private var told: Int64 = 0

    package init(_ unit: Unit, at time: Double = Timestamp.now()) {
        self.unit = unit
        began = time
        pace = Pace(unit == .bytes ? .bytes : .pixels)
    }

    /// It begins, at `done` when something is there from before.
    package mutating func begin(done: Int64 = 0, total: Int64? = nil, at time: Double = Timestamp.now()) {
        self = Figures(unit, at: time)
        (self.done, self.total) = (done, total)
    }

    /// The first word of it begins the measuring: what came before, connecting or decoding, says nothing of how fast it flows.
    package mutating func take(_ done: Int64, of total: Int64?, at time: Double = Timestamp.now()) {
        if let estimate = estimate(at: time) { told = max(told, Int64(estimate.done)) }
        let (done, total) = (Self.sensible(done), total.map(Self.sensible))
        (self.done, self.total, heard) = (done, total, time)
        if pace.hasBegun { pace.take(done, at: time) } else { pace.begin(at: time, done: done) }
    }

    /// A worker may say anything, and some numbers can't be calculated with.
    private static func sensible(_ number: Int64) -> Int64 { min(max(0, number), 1 << 53) }

    package func rate(at time: Double) -> Double? { pace.rate(at: time) }

    package func remaining(at time: Double) -> Double? {
        if let estimate = estimate(at: time) { return estimate.remaining }
        return total.flatMap { pace.remaining(Double($0 - done), at: time) }
    }

    /// Progress at `time`; at least what its worker has reported, and never the whole.
    package func done(at time: Double) -> Int64 { max(told, estimate(at: time).map { Int64($0.done) } ?? done) }

    /// Seconds without a report before progress is estimated.
    private static let patience = 1.0
    /// Beyond this an estimate comes closer to the end ever more slowly.
    private static let certain = 0.95

    /// A worker reports nothing while an encoder works on all pixels together. The rate so far tells how fast the
    /// encoder is: the shares of the work are measured that way.
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
