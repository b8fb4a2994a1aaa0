package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
package import JobLedger
import JobModel
package import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls

/// Processes done jobs again with the current version of their recipe, or undoes them.
@Coordination
package struct DoneJobs {
    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let jobs: JobQueue
    private let originals: OriginalMover
    private let revivals: RetryRequests
    private let check: DoneCheck

    package init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ jobs: JobQueue, _ originals: OriginalMover,
        _ revivals: RetryRequests, _ check: DoneCheck
    ) {
        (self.ledger, self.configuration, self.jobs) = (ledger, configuration, jobs)
        (self.originals, self.revivals, self.check) = (originals, revivals, check)
    }

    /// Brings the originals back and queues the jobs again. The earlier results stay until new results replace them.
    /// Calls `done` when the changes are durable. If `asking` is true, changes nothing, and only reports the outcome
    /// that a redo would have.
    package func redo(_ choice: DoneChoice, asking: Bool, done: @escaping Done<DoneOutcome>) {
        each(of: choice) { [self] records, outcome, goOn in
            lane(of: records).async { [check] in
                let obstacles = records.map { check.obstacle(toRedoing: $0) }
                let changed = asking ? records.filter { check.hasChangedResults($0) }.map(\.id) : []
                Coordination.async { [self] in
                    redo(zip(records, obstacles), changed: Set(changed), asking, outcome, goOn)
                }
            }
        } done: { [ledger] outcome in
            ledger.whenDurable { Coordination.async { done(outcome) } }
        }
    }

    private func redo(
        _ examined: Zip2Sequence<[JobRecord], [String?]>, changed: Set<Int>, _ asking: Bool, _ soFar: DoneOutcome,
        _ goOn: @escaping Done<DoneOutcome>
    ) {
        var outcome = soFar
        var wanted: [Returns.Wanted] = []
        for (record, obstacle) in examined {
            if let obstacle {
                outcome.refused.add(obstacle, record.id)
            } else if let order = revivals.order(of: record) {
                wanted.append(Returns.Wanted(job: record, order: order, states: [.done]))
            } else {
                outcome.refused.add(configuration.now.lack(of: record.order.recipe), record.id)
            }
        }
        guard !asking else {
            outcome.ids += wanted.map(\.job.id)
            for one in wanted where changed.contains(one.job.id) {
                outcome.remarks.add("somebody has changed a result, which stays beside the new one", one.job.id)
            }
            return goOn(outcome)
        }
        originals.bringBack(wanted) { [jobs, outcome] returned in
            jobs.queueAgain(returned.brought)
            var outcome = outcome
            outcome.ids += returned.brought.map(\.id)
            for (job, why) in returned.lost { outcome.refused.add("its original can't be brought back: \(why)", job) }
            for job in returned.others { outcome.refused.add("it is being brought back already", job) }
            goOn(outcome)
        }
    }

    /// Removes the jobs' results from the outbox, and moves their originals to `goal`, or to `cancelled/` if `goal` is
    /// nil. Calls `done` when all originals that can be moved have arrived. If `asking` is true, changes nothing, and
    /// only reports the outcome that an undo would have.
    package func undo(_ choice: DoneChoice, to goal: String?, asking: Bool, done: @escaping Done<DoneOutcome>) {
        each(of: choice) { [self] records, outcome, goOn in
            if asking { return askToUndo(records, outcome, goOn) }
            originals.undo(records, to: goal) { [jobs] undone in
                jobs.move(undone.undone.count, from: .done, to: .cancelled)
                var outcome = outcome
                outcome.ids += undone.undone
                for (job, why) in undone.refused { outcome.refused.add(why, job) }
                for job in undone.left.keys.sorted() { outcome.remarks.add(Self.stays, job) }
                goOn(outcome)
            }
        } done: {
            done($0)
        }
    }

    nonisolated private static let stays = "somebody has changed a result, which stays in the outbox"

    /// Checks the folder that originals will be moved to. Calls `done` with the folder's resolved path, and with a
    /// reason if the folder is refused.
    package func checkGoal(
        _ goal: String?, done: @escaping @Coordination @Sendable (_ place: String?, _ refusal: String?) -> Void
    ) {
        guard let goal else { return done(nil, nil) }
        let places = configuration.places
        let own =
            [places.archive, places.failed, places.recovered, places.state, places.run, places.inbox, places.outbox]
            + [places.configuration] + places.plugins + configuration.folders
        FileLanes.looks(at: goal).async {
            let refusal = UndoGoal.refusal(of: goal, own: own, tops: [places.data])
            let place = FileSystem.resolved(goal)
            Coordination.async { done(place, refusal) }
        }
    }

    private func askToUndo(_ records: [JobRecord], _ soFar: DoneOutcome, _ goOn: @escaping Done<DoneOutcome>) {
        lane(of: records).async { [check] in
            var outcome = soFar
            for record in records {
                if let obstacle = check.obstacle(toUndoing: record) {
                    outcome.refused.add(obstacle, record.id)
                } else {
                    outcome.ids.append(record.id)
                    if check.hasChangedResults(record) { outcome.remarks.add(Self.stays, record.id) }
                }
            }
            Coordination.async { [outcome] in goOn(outcome) }
        }
    }

    private func lane(of records: [JobRecord]) -> FileLane {
        FileLanes.copies(of: records.first?.source ?? configuration.places.archive)
    }

    private func each(
        of choice: DoneChoice,
        _ each:
            @escaping @Coordination @Sendable (
                [JobRecord], DoneOutcome, _ goOn: @escaping Done<DoneOutcome>
            ) -> Void,
        done: @escaping Done<DoneOutcome>
    ) {
        switch choice {
        case .all(let filter):
            let portions = JobPortions(ledger: ledger, filter: filter, last: jobs.numbers.lastID)
            portions.each(DoneOutcome(), each) { outcome, error in
                var outcome = outcome
                outcome.unread = error
                done(outcome)
            }
        case .these(let ids):
            FileLanes.ledger.async { [ledger] in
                let read = Result { try ledger.jobs(ids) }
                Coordination.async {
                    do {
                        each(try read.get(), DoneOutcome(), done)
                    } catch {
                        var outcome = DoneOutcome()
                        outcome.unread = error
                        done(outcome)
                    }
                }
            }
        }
    }
}
