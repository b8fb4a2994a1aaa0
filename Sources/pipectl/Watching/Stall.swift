import PipelineControl
import SystemCalls

/// Asks the daemon from time to time why jobs wait. It uses a connection of its own, so that `pipectl wait` can react
/// to Ctrl-C and to ended jobs while an answer is outstanding.
struct Stall {
    let client: ControlClient
    private(set) var reasons: [Control.Waiting] = []
    /// Whether no job is queued or running; updated only if the question was about all jobs.
    private var isIdle = false
    private var asksAt: Double?
    private var isAsking = false
    private var asksForAll = false
    private var reported: [Control.Waiting] = []

    init(client: ControlClient, asksAt: Double) {
        (self.client, self.asksAt) = (client, asksAt)
    }

    /// Milliseconds until the next question; nil while an answer is outstanding, or if no more questions follow.
    var milliseconds: Int? {
        guard !isAsking, let asksAt else { return nil }
        return Int(nearest: max(1, min(60, asksAt - Moment.now()) * 1000))
    }

    /// If it is time, asks about these jobs, about the jobs of a batch, or about all jobs.
    mutating func ask(about ids: [Int], batch: Int?) throws {
        guard !isAsking, let asksAt, Moment.now() >= asksAt else { return }
        asksForAll = ids.isEmpty && batch == nil
        if asksForAll {
            try client.start(Call.Status())
        } else {
            try client.start(Call.WhyWaiting(ids: ids, batch: batch))
        }
        isAsking = true
    }

    /// Returns whether the answer has arrived. Does not ask again if the daemon doesn't know the call.
    mutating func receive(again: Double) throws -> Bool {
        do {
            guard try receive() else { return false }
        } catch is ControlError {
            (isAsking, asksAt) = (false, nil)
            return false
        }
        (isAsking, asksAt) = (false, again)
        return true
    }

    private mutating func receive() throws -> Bool {
        if asksForAll {
            guard let status = try client.receive(Call.Status.self).replies.last?.status else { return false }
            reasons = status.waiting
            isIdle = [status.jobs.queued, status.jobs.running, status.jobs.cancelling].sum == 0
        } else {
            guard let reply = try client.receive(Call.WhyWaiting.self).replies.last else { return false }
            reasons = reply.waiting
        }
        return true
    }

    /// Discards the reasons, because a job has ended, and asks again at `time`.
    mutating func isOver(until time: Double) {
        reasons = []
        if !isAsking, asksAt != nil { asksAt = time }
    }

    /// The reasons, if all remaining jobs wait and the reasons are new. `left` is the number of remaining jobs, if it
    /// is known.
    mutating func news(left: Int?) -> [Control.Waiting]? {
        let isStalled = left.map { $0 <= reasons.map(\.jobs).sum } ?? isIdle
        guard isStalled, !reasons.isEmpty, reasons != reported else { return nil }
        reported = reasons
        return reasons
    }
}

extension [Control.Waiting] {
    /// A line for each reason, such as `9 wait: paused: the CPU is needed`.
    var lines: [String] {
        map { waiting in
            let hint =
                waiting.reason.hasPrefix("paused")
                ? "; `pipectl resume` lets \(waiting.jobs == 1 ? "it" : "them") go on" : ""
            return "\(waiting.jobs) \(waiting.jobs == 1 ? "waits" : "wait"): \(waiting.reason.printable)\(hint)"
        }
    }
}
