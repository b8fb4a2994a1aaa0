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
        var interrupted = false
    }

    private let work: Work
    private let pool: WorkerPool
    private let files: DispatchQueue
    /// Told why it waits in the middle, and nil when it goes on.
    private let held: @Sendable (String?) -> Void
    private let box = Mutex(Box())

    /// `files` runs what may wait for a disk.
    init(_ work: Work, pool: WorkerPool, files: DispatchQueue, held: @escaping @Sendable (String?) -> Void) {
        self.held = held
        self.work = work
        self.pool = pool
        self.files = files
    }

    var image: ImageHandle? { box.withLock { $0.image } }
    var failure: JobFailure? { box.withLock { $0.failure } }
    var header: PictureHeader? { box.withLock { $0.header } }
    var tries: Int { box.withLock { $0.tries } }

    override func execute() {
        box.withLock { $0.tries += 1 }
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
            end(.failed, JobFailure("the worker answered with the wrong number of results"))
        case .failure(.picture(let failure)):
            end(.failed, JobFailure(failure))
        case .failure(.timedOut):
            end(
                .failed,
                JobFailure(
                    "rendering took longer than JobTimeout",
                    advice: "raise JobTimeout in [Daemon], then `pipectl retry`"))
        case .failure(.tooHeavy(let words)):
            end(.failed, JobFailure(words, advice: "raise MemoryBudget in [Daemon], or make the picture smaller"))
        case .failure(.confined):
            // Not tried again, as after a crash: whoever took the worker over would get another.
            end(
                .failed,
                JobFailure(
                    "confinement: the picture, or a filter of its chain, tried what a worker may not, and the kernel "
                        + "ended the worker",
                    advice: "distrust the picture, unless a filter is at fault; the kernel's log (`journalctl -k`) "
                        + "names the system call"))
        case .failure(.workerLost) where tries < 2 && !box.withLock({ $0.interrupted }):
            execute()
        case .failure(.workerLost(let how)):
            end(
                .failed,
                JobFailure(
                    "took its worker down twice; the second \(how)",
                    advice: "the picture, or a filter of the chain, is likely to be broken"))
        case .failure(.cancelled):
            end(.cancelled, nil)
        }
    }

    /// Nothing partial stays behind, and nobody hears of the end before that is so.
    private func end(_ outcome: OperationState, _ failure: JobFailure?) {
        var failure = failure
        if failure?.lacksRoom == true {
            failure?.written = work.staging.reduce(0) { $0 + ((try? FileSystem.status($1))?.size ?? 0) }
        }
        for path in work.staging { fileWork.during(path) { try? FileSystem.remove(path) } }
        box.withLock { $0.failure = failure }
        finish(outcome)
    }
}
