import Dispatch
import PipelineModel
import Synchronization
import SystemCalls

/// Brings the results of a job into the outbox, all of them together.
final class PublishOperation: AsyncOperation, ImageProviding, @unchecked Sendable {
    // `@unchecked`: what changes is in `box`.

    /// What the operation asks of the supervisor in between.
    struct Steps: Sendable {
        /// Makes the intent durable; false when the job has been cancelled before.
        var intend: @Sendable (PublishIntent, @escaping @Sendable (Bool) -> Void) -> Void
        /// Makes the job's end durable.
        var conclude: @Sendable ([Publisher.Published], @escaping @Sendable () -> Void) -> Void
    }

    private struct Box {
        var image: ImageHandle?
        var failure: JobFailure?
    }

    private let order: WorkOrder
    private let path: String
    private let publisher: Publisher
    private let files: DispatchQueue
    private let steps: Steps
    private let box = Mutex(Box())

    init(order: WorkOrder, path: String, publisher: Publisher, files: DispatchQueue, steps: Steps) {
        self.order = order
        self.path = path
        self.publisher = publisher
        self.files = files
        self.steps = steps
    }

    var image: ImageHandle? { box.withLock { $0.image } }
    var failure: JobFailure? { box.withLock { $0.failure } }

    override func execute() {
        guard let image = provided else { return finish(.cancelled) }
        files.async { [self] in
            do {
                try fileWork.during(order.outbox) { try publisher.makeDurable(image.results) }
            } catch {
                return fail(image, error)
            }
            sync(image.results.map(\.path)) { [self] error in
                if let error { fail(image, error) } else { intend(image) }
            }
        }
    }

    /// Makes the folders of these files durable.
    private func sync(_ paths: [String], done: @escaping FolderSync.Done) {
        fileWork.begin(order.outbox)
        publisher.folders.sync(Set(paths.map(FileSystem.folder))) { [self] error in
            fileWork.end()
            done(error)
        }
    }

    private func intend(_ image: ImageHandle) {
        do {
            let publication = try fileWork.during(order.outbox) {
                try publisher.choose(image.results, order: order, path: image.name ?? path)
            }
            steps.intend(publication.intent) { [self] recorded in
                files.async { recorded ? self.publish(publication, image) : self.abandon(publication, image) }
            }
        } catch {
            fail(image, error)
        }
    }

    private func publish(_ publication: Publisher.Publication, _ image: ImageHandle) {
        do {
            let published = try fileWork.during(order.outbox) {
                try publisher.publish(publication) { intent, recorded in
                    self.steps.intend(intent) { _ in recorded() }
                }
            }
            sync(published.map(\.path)) { [self] error in
                if let error {
                    publisher.takeBack(published)
                    return end(error)
                }
                box.withLock { $0.image = image }
                steps.conclude(published) { [self] in finish(.finished) }
            }
        } catch {
            // The intent is recorded: the staging files go only when the failure is recorded in its place.
            end(error)
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
