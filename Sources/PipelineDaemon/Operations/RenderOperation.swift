import Dispatch
import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// Source picture to result pictures, in one worker: every stage of every output that lies between two cuts.
final class RenderOperation: AsyncOperation, ImageProviding, @unchecked Sendable {
    // `@unchecked`: what changes is in `box`.

    struct Work: Sendable {
        var name: String
        var outputs: [RecipeOutput]
        var source: ImageHandle
        /// Of the source, in bytes.
        var size: Int
        /// Where the results are made, one for each output.
        var staging: [String]
        var limits: RenderTask.Limits
        /// It was in work when the daemon crashed: nothing else is in work beside it now.
        var suspect: Bool
    }

    private struct Box {
        var image: ImageHandle?
        var failure: JobFailure?
        var header: PictureHeader?
        var task: RenderTask?
        var tries = 0
        /// The latest to work on it.
        var worker: Int32?
        var interrupted = false
    }

    private let work: Work
    private let pool: WorkerPool
    private let files: DispatchQueue
    /// Told why it waits in the middle, and nil when it goes on.
    private let held: @Sendable (String?) -> Void
    /// Told why it is begun once more, before it is.
    private let lost: @Sendable (JobFailure) -> Void
    private let box = Mutex(Box())

    /// `files` runs what may wait for a disk.
    init(
        _ work: Work, pool: WorkerPool, files: DispatchQueue, held: @escaping @Sendable (String?) -> Void,
        lost: @escaping @Sendable (JobFailure) -> Void
    ) {
        self.held = held
        self.lost = lost
        self.work = work
        self.pool = pool
        self.files = files
    }

    var image: ImageHandle? { box.withLock { $0.image } }
    var failure: JobFailure? { box.withLock { $0.failure } }
    var header: PictureHeader? { box.withLock { $0.header } }
    var tries: Int { box.withLock { $0.tries } }
    /// Of the latest try.
    var account: JobStory.Account {
        box.withLock { box in
            let written = box.image.map { $0.staged.reduce(0) { $0 + ($1.result?.bytes ?? 0) } } ?? box.failure?.written
            return JobStory.Account(
                worker: box.worker.map(Int.init), read: box.header == nil ? nil : work.size,
                written: written.map(Int.init))
        }
    }

    override func execute() {
        box.withLock { box in
            box.tries += 1
            box.worker = nil
            box.header = nil
        }
        files.async { [self] in
            do {
                let input = provided ?? work.source
                let source = try fileWork.during(input.source) {
                    try Descriptor.open(input.source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                }
                guard let targets = openTargets() else { return }
                run(makeTask(source: source, targets: targets))
            } catch {
                end(.failed, JobFailure(error, during: "opening the picture"))
            }
        }
    }

    override func interrupt() {
        let task = box.withLock { box in
            box.interrupted = true
            return box.task
        }
        if let task { pool.cancel(task) }
    }

    private func openTargets() -> [Descriptor]? {
        do {
            return try work.staging.map { path in try fileWork.during(path) { try openStaging(path) } }
        } catch {
            end(.failed, JobFailure(error, inOutboxDuring: "making the result in the outbox"))
            return nil
        }
    }

    private func openStaging(_ path: String) throws -> Descriptor {
        try FileSystem.makeFolders(FileSystem.folder(of: path))
        return try Descriptor.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
    }

    private func makeTask(source: Descriptor, targets: [Descriptor]) -> RenderTask {
        RenderTask(
            name: work.name, outputs: work.outputs.map { RenderOutput(name: $0.name, stages: $0.chain.stages) },
            limits: work.limits, alone: work.suspect || tries > 1, source: source, targets: targets, held: held,
            begun: { [self] worker in box.withLock { $0.worker = worker } },
            opened: { [self] header in box.withLock { $0.header = header } },
            done: { [self] result in files.async { self.answered(result) } })
    }

    private func run(_ task: RenderTask) {
        let interrupted = box.withLock { box in
            box.task = task
            return box.interrupted
        }
        if interrupted { pool.cancel(task) }
        pool.run(task)
    }

    private func answered(_ result: Result<[RenderedOutput], RenderTask.Failure>) {
        box.withLock { $0.task = nil }
        switch result {
        case .success(let results) where results.count == work.outputs.count:
            var image = work.source
            image.header = header
            image.staged = zip(zip(work.outputs, work.staging), results).map { pair, result in
                ImageHandle.Staged(name: pair.0.name, suffix: pair.0.chain.suffix, path: pair.1, result: result)
            }
            box.withLock { $0.image = image }
            finish(.finished)
        case .success:
            failed(JobFailure("the worker answered with the wrong number of results", class: .crash))
        case .failure(let reason):
            if let failure = JobFailure(reason, atTry: tries) { failed(failure) } else { end(.cancelled, nil) }
        }
    }

    private func failed(_ failure: JobFailure) {
        guard failure.class.remedy == .alone, tries < 2, !box.withLock({ $0.interrupted }) else {
            return end(.failed, failure)
        }
        lost(failure)
        execute()
    }

    /// Nothing partial stays behind, and nobody hears of the end before that is so.
    private func end(_ outcome: OperationState, _ failure: JobFailure?) {
        var failure = failure
        if failure != nil {
            failure?.written = work.staging.reduce(0) { $0 + ((try? FileSystem.status($1))?.size ?? 0) }
        }
        for path in work.staging { fileWork.during(path) { try? FileSystem.remove(path) } }
        box.withLock { $0.failure = failure }
        finish(outcome)
    }
}
