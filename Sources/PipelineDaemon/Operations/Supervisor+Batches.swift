import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Barriers, and the announcements of batches.
extension Supervisor {
    /// A segment is made. What it hands over has to outlive the job's leaving of the window.
    func cross(_ job: Job) {
        guard let image = job.render.image, !job.ended else { return }
        publisher.line(of: job.record.order.outbox).take(
            OutboxLine.Turn(files: image.staged) {
                Set(image.staged.map { FileSystem.folder(of: $0.path) })
            } done: { [self] error in
                Coordination.async { self.crossed(job, image, error) }
            })
    }

    private func crossed(_ job: Job, _ image: ImageHandle, _ error: (any Error)?) {
        guard !job.ended, !job.cancelRequested, !job.returning, job.waits == nil else { return }
        if let error {
            return fail(job, JobFailure(error, inOutboxDuring: "handing over what was made before the barrier"))
        }
        job.record.staged += image.staged.compactMap { file in
            file.result.map { .init(index: file.picture.index, path: file.path, result: $0) }
        }
        arrive(&job.record)
        finish(job, .waiting)
    }

    /// A job whose chains begin with a barrier.
    func arrive(_ record: JobRecord) {
        var record = record
        arrive(&record)
        counts[.queued, default: 0] -= 1
        counts[.waiting, default: 0] += 1
        record.state = .waiting
        ending.insert(record.id)
        ledger.record(record) { [self, id = record.id] in
            Coordination.async { [self] in
                ending.remove(id)
                fill(arrived: nil)
                checkDrained()
            }
        }
    }

    private func arrive(_ record: inout JobRecord) {
        record.segment += 1
        record.hold = .barrier
        record.reason = "barrier: waits for the others of batch \(record.batch ?? 0)"
    }

    /// Something has become of a batch as a whole. It is told once, and those at the barrier go on.
    func announce(_ news: BatchNews, of batch: Int) {
        guard announcing.insert(batch).inserted else { return }
        guard news != .joined else { return settle(batch) {} }
        announce.add(AnnounceOperation { [self] in settle(batch, done: $0) }, of: OperationSubject.batch(batch, news))
    }

    nonisolated private func settle(_ batch: Int, done: @escaping @Sendable () -> Void) {
        ledger.announce(batch) { [self] released in
            done()
            Coordination.async { [self] in
                announcing.remove(batch)
                guard released > 0 else { return checkWaiters() }
                wentOn(released)
            }
        }
    }

    /// `done` when everything that has ended by now is announced.
    func whenAnnounced(_ done: @escaping @Coordination @Sendable () -> Void) {
        // A batch is told of behind the entry that has settled it: behind one more, its announcement is in the queue.
        ledger.whenDurable { [self] in
            Coordination.async { [self] in
                let last = AnnounceOperation { over in
                    over()
                    Coordination.async(done)
                }
                announce.add(last)
            }
        }
    }
}

extension JobRecord {
    /// What was made before a barrier.
    func staged(_ plan: Plan) -> [ImageHandle.Staged] {
        let pictures = Dictionary(plan.pictures.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        return staged.compactMap { file in
            pictures[file.index].map { ImageHandle.Staged(picture: $0, path: file.path, result: file.result) }
        }
    }

    /// What these pictures are made from, in bytes.
    func size(of pictures: [PlannedPicture]) -> Int {
        Set(pictures.map(\.source)).reduce(0) { size, source in
            guard let source else { return size + file.size }
            return size + Int(staged.first { $0.index == source }?.result.bytes ?? 0)
        }
    }
}
