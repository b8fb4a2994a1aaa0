import DaemonRuntime
import JobModel
package import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools

/// Moves all results of a job into the outbox together.
package final class PublishOperation: AsyncOperation, ImageProviding, @unchecked Sendable {
    // `@unchecked`: all mutable state is in `box`.

    /// The steps that the operation leaves to the supervisor.
    struct Steps: Sendable {
        /// Provides the facts that the results' names need beyond the picture's path.
        var facts: @Sendable (ImageHandle) throws -> NameFacts = { _ in NameFacts() }
        /// Makes the intent durable. Answers false if the job was cancelled first, or if the ledger refuses the intent.
        var intend: @Sendable (PublishIntent, @escaping @Sendable (Bool) -> Void) -> Void
        /// Makes the job's final state durable.
        var conclude: @Sendable (Publisher.Outcome, @escaping @Sendable () -> Void) -> Void
    }

    private struct Box {
        var outcome = Publisher.Outcome()
        var image: ImageHandle?
        var failure: JobFailure?
        /// Whether the intent can't be finished, because neither its staging files nor its results exist any more.
        var isLost = false
        /// The date in the results' names.
        var date: PictureDate?
    }

    private let order: WorkOrder
    private let path: String
    /// The intent of an earlier, unfinished attempt. If set, the operation completes it.
    private let resuming: PublishIntent?
    /// The earlier results of a job that is processed again. The new results replace them.
    private let before: Publisher.EarlierResults?
    private let publisher: Publisher
    private let steps: Steps
    private let box = Mutex(Box())

    init(
        order: WorkOrder, path: String, resuming: PublishIntent? = nil,
        replacing before: Publisher.EarlierResults? = nil,
        publisher: Publisher, steps: Steps
    ) {
        (self.resuming, self.order, self.path, self.publisher) = (resuming, order, path, publisher)
        (self.before, self.steps) = (before, steps)
    }

    var image: ImageHandle? { box.withLock { $0.image } }
    var failure: JobFailure? { box.withLock { $0.failure } }
    var isLost: Bool { box.withLock { $0.isLost } }
    /// The date in the results' names, and its source.
    var detail: String? { box.withLock { $0.date.map { "dated \($0.words)" } } }

    package override func execute() {
        guard let image = provided(ImageHandle.self) else { return finish(.cancelled) }
        if let resuming { return resume(resuming, image) }
        let folders = Set(image.results.map { FileSystem.folder(of: $0.path) })
        takeTurn(with: image.results) {
            folders
        } done: { [self] error in
            if let error { fail(image, error) } else { intend(image) }
        }
    }

    private func takeTurn(
        with files: [ImageHandle.Staged] = [], _ work: @escaping @Sendable () throws -> Set<String>,
        done: @escaping @Sendable ((any Error)?) -> Void
    ) {
        // The time that the job waits for its turn counts as file work, too: if the outbox does not answer, the turns
        // ahead hang, and the daemon must notice that this job is affected.
        fileWork.begin(order.outbox)
        publisher.line(of: order.outbox).take(
            OutboxLine.Turn(files: files, work: work) { [self] error in
                fileWork.end()
                done(error)
            })
    }

    private func intend(_ image: ImageHandle) {
        do {
            let publication = try fileWork.during(order.outbox) {
                let facts = try steps.facts(image)
                box.withLock { $0.date = facts.date }
                return try publisher.choose(
                    image.results, order: order, path: image.name ?? path, facts: facts, replacing: before)
            }
            steps.intend(publication.intent) { [self] recorded in
                if recorded { return publish(publication, image) }
                FileLanes.work(on: order.outbox).async { self.abandon(publication, image) }
            }
        } catch {
            fail(image, error)
        }
    }

    private func publish(_ publication: Publisher.Publication, _ image: ImageHandle) {
        takeTurn { [self] in
            let outcome = try publisher.publish(publication, rerecord: steps.intend)
            box.withLock { $0.outcome = outcome }
            return outcome.folders
        } done: { [self] error in
            // The recorded intent stays. The next attempt completes the intent, or the disposal of the failed job
            // reverts it.
            if let error { return end(error) }
            conclude(image, publication.intent)
        }
    }

    private func resume(_ intent: PublishIntent, _ image: ImageHandle) {
        takeTurn { [self] in
            guard let outcome = try publisher.recover(intent, rerecord: steps.intend) else {
                box.withLock { $0.isLost = true }
                throw JobFailure("the results are no longer in the outbox; they are made again", class: .transient)
            }
            box.withLock { $0.outcome = outcome }
            return []
        } done: { [self] error in
            if let error { return end(error) }
            conclude(image, intent)
        }
    }

    private func conclude(_ image: ImageHandle, _ intent: PublishIntent) {
        let outcome = box.withLock { box in
            box.image = image
            return box.outcome
        }
        steps.conclude(outcome) { [self] in
            if intent.leavesFiles || outcome.published.count < intent.steps.count {
                FileLanes.work(on: order.outbox).async { self.publisher.discard(intent) }
            }
            finish(.finished)
        }
    }

    private func abandon(_ publication: Publisher.Publication, _ image: ImageHandle) {
        publisher.release(publication)
        publisher.discard(image.staged)
        finish(.cancelled)
    }

    private func fail(_ image: ImageHandle, _ error: any Error) {
        publisher.discard(image.staged)
        end(error)
    }

    private func end(_ error: any Error) {
        var failure = error as? JobFailure ?? JobFailure(error, inOutboxDuring: "publishing")
        failure.stage = "publish"
        box.withLock { [failure] in $0.failure = failure }
        finish(.failed)
    }
}
