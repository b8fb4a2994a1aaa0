package import JobLedger
import JobModel
import PipelineModel
import SystemCalls

/// Undoes done jobs. A single commit cancels a job, and records the intent to withdraw its results. The job's disposal
/// withdraws the results and moves the original. After a crash, the daemon repeats the disposal until the ledger has
/// recorded it.
///
/// Runs on the queue `moves` of an inbox (see `OriginalMover`).
package struct Withdrawals: Sendable {
    package struct Outcome: Sendable {
        package var undone: [Int] = []
        /// Results, by job, that stay in the outbox because somebody has changed them.
        package var left: [Int: [String]] = [:]
        package var refused: [(job: Int, why: String)] = []

        package mutating func add(_ outcome: Outcome) {
            undone += outcome.undone
            left.merge(outcome.left) { first, _ in first }
            refused += outcome.refused
        }
    }

    package let ledger: Ledger
    package let check: DoneCheck
    package let staging: Staging

    /// Undoes the jobs that can be undone. `goal` is the folder for the originals; nil means `cancelled/`.
    package func undo(_ ids: [Int], to goal: String?) -> Outcome {
        var outcome = Outcome()
        var wanted: [Ledger.Undone] = []
        do {
            for job in try ledger.jobs(ids) {
                if let obstacle = check.obstacle(toUndoing: job) {
                    outcome.refused.append((job.id, obstacle))
                } else {
                    try wanted.append(undone(job, to: goal, &outcome))
                }
            }
        } catch {
            let known = Set(outcome.refused.map(\.job) + wanted.map(\.job))
            outcome.refused += ids.filter { !known.contains($0) }.map { ($0, "\(error)") }
        }
        let recorded = ledger.undo(wanted)
        let done = recorded ?? []
        for one in wanted where !done.contains(one.job) {
            let isRefused = recorded == nil
            outcome.refused.append(
                (
                    one.job,
                    isRefused ? "the ledger refuses to record it; see the daemon's log" : "it is not done any more"
                )
            )
        }
        outcome.undone = done.sorted()
        outcome.left = outcome.left.filter { done.contains($0.key) }
        return outcome
    }

    private func undone(_ job: JobRecord, to goal: String?, _ outcome: inout Outcome) throws -> Ledger.Undone {
        var steps: [PublishIntent.Step] = []
        var left: [String] = []
        let folder = staging.folder(in: job.order.outbox)
        for (index, result) in job.outputs.enumerated() {
            switch try result.standing() {
            case .same:
                let place = "\(folder)/\(job.id)-undone-\(index)"
                // An earlier undo may have left this file.
                if try FileSystem.exists(place) { try FileSystem.remove(place) }
                steps.append(
                    PublishIntent.Step(staging: place, target: result.path, conflict: .number, file: result.file))
            case .changed, .unknown: left.append(result.path)
            case .gone: break
            }
        }
        if !left.isEmpty { outcome.left[job.id] = left }
        return Ledger.Undone(
            job: job.id, intent: PublishIntent(steps: steps),
            reason: ["undone", left.saidToStay].compactMap(\.self).joined(separator: "; "), goal: goal)
    }
}

extension [String] {
    /// A note that these results stay in the outbox, and why; nil if there are no such results.
    package var saidToStay: String? {
        if isEmpty { return nil }
        return "left, because somebody may have changed \(count == 1 ? "it" : "them"): \(joined(separator: ", "))"
    }
}
