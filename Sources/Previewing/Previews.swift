package import DaemonConfiguration
package import DaemonRuntime
import Dispatch
import JobModel
package import OperationGraph
package import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
package import WorkerPools

/// Makes previews of originals and results on demand, and keeps them up to the total size that `Previews=` allows.
///
/// Jobs have precedence. A preview starts when the render queue has a free place. While the queue is full, one preview
/// starts every `PreviewPause=`. The latest request is served first, because somebody is probably looking at that
/// picture now.
@Coordination
package final class Previews {
    private let pool: WorkerPool
    private let configuration: ConfigurationInForce
    private let queue: GatedQueue
    private let pictures: JobPictures
    private let folder: PreviewFolder
    /// The previews for which clients are waiting.
    private var makings: [PreviewKey: PreviewMaking] = [:]
    /// The queued previews. The last preview starts next.
    private var waiting: [PreviewMaking] = []
    private var inWork = 0
    /// The number of previews made since the start.
    package private(set) var madeCount = 0
    private var failures: [PreviewKey: (error: any Error, until: DispatchTime)] = [:]
    /// When the last preview was started.
    private var begun = DispatchTime.now()
    private var isTurnAwaited = false
    private var isStopped = false

    /// How long a failure is remembered. The picture is not rendered again before this time has passed.
    nonisolated private static let pause = Duration.seconds(60)
    nonisolated private static let mostFailures = 1000

    package init(
        _ pool: WorkerPool, _ configuration: ConfigurationInForce, _ queue: GatedQueue, _ pictures: JobPictures
    ) {
        (self.pool, self.configuration, self.queue, self.pictures) = (pool, configuration, queue, pictures)
        folder = PreviewFolder(configuration.places.previews) { configuration.settings.keep.previews }
    }

    package func begin() { folder.begin() }

    /// Applies a reloaded configuration. Forgets all failures, because the reload may have raised a limit that made a
    /// picture fail.
    package func adopt() {
        failures = [:]
        folder.look()
    }

    /// Starts no further previews; all queued requests fail.
    package func stop() {
        isStopped = true
        for making in waiting { end(making, Self.stopping) }
        waiting = []
    }

    nonisolated private static let stopping = JobFailure("the daemon is stopping; try again when it is back")

    // MARK: - Requests

    package func ask(_ wish: PreviewWish) {
        guard !isStopped else { return wish.fail(Self.stopping) }
        let (record, result) = (wish.record, wish.result)
        do {
            wish.opening = try pictures.lane(of: result, of: record).take { [self] in
                let opened = Result { try pictures.open(result, of: record) }
                Coordination.async { [self] in took(wish, opened) }
            }
        } catch {
            wish.fail(error)
        }
    }

    /// Withdraws a request whose client has disconnected.
    package func withdraw(_ wish: PreviewWish) {
        wish.opening?.withdraw()
        // The call needs an answer even though its client has disconnected.
        wish.fail(JobFailure("nobody waits for it any more"))
        guard let making = wish.making else { return }
        making.wishes.removeAll { $0 === wish }
        guard making.wishes.isEmpty else { return }
        waiting.removeAll { $0 === making }
        forget(making)
        if let task = making.task { pool.cancel(task) }
    }

    private func took(_ wish: PreviewWish, _ opened: Result<JobPicture, any Error>) {
        guard !wish.isOver else { return }
        guard !isStopped else { return wish.fail(Self.stopping) }
        let picture: JobPicture
        do { picture = try opened.get() } catch { return wish.fail(error) }
        if picture.isSmall(side: wish.size) {
            wish.take()?(.success((picture.name, picture.file)))
            return
        }
        let key = PreviewKey(
            job: wish.record.id, result: wish.result ?? 0, size: wish.size, picture: picture.identity.onAnyDevice)
        if let failure = failures[key.ofAnySize], failure.until > .now() { return wish.fail(failure.error) }
        let known = makings[key]
        let making = known ?? PreviewMaking(key, picture, LogSubject(wish.record))
        making.wishes.append(wish)
        wish.making = making
        if known == nil {
            makings[key] = making
            folder.find(key) { [self] file in looked(making, file) }
        } else if let index = waiting.firstIndex(where: { $0 === making }) {
            waiting.append(waiting.remove(at: index))
        }
    }

    private func looked(_ making: PreviewMaking, _ file: Descriptor?) {
        guard !making.wishes.isEmpty else { return }
        if let file { return hand(file, to: making) }
        guard !isStopped else { return end(making, Self.stopping) }
        waiting.append(making)
        fill()
    }

    // MARK: - Turns

    /// Maximum number of previews that are rendered at the same time: 1 on a small machine.
    private var most: Int { max(1, queue.report.effective / 4) }

    private func fill() {
        while inWork < min(most, queue.spare) || isTurn, let next = waiting.popLast() { begin(next) }
        guard !waiting.isEmpty, inWork < most else { return }
        awaitTurn()
        queue.whenSpare(inWork + 1, for: "previews") { Coordination.async { [self] in fill() } }
    }

    /// Whether `PreviewPause=` has passed and no preview is running. A preview may then start even if jobs occupy all
    /// places.
    private var isTurn: Bool { inWork == 0 && .now() >= turn }
    private var turn: DispatchTime { begun + configuration.settings.previewPause.dispatch }

    private func awaitTurn() {
        guard inWork == 0, !isTurnAwaited else { return }
        isTurnAwaited = true
        Coordination.at(turn) { [self] in
            isTurnAwaited = false
            fill()
        }
    }

    private func begin(_ making: PreviewMaking) {
        inWork += 1
        begun = .now()
        folder.draft { [self] draft in
            switch draft {
            case .success(let draft):
                making.wishes.isEmpty ? ended(making, draft, .cancelled) : render(making, into: draft)
            case .failure(let error):
                end(making, error)
                freed()
            }
        }
    }

    private func render(_ making: PreviewMaking, into draft: PreviewFolder.Draft) {
        let task = RenderTask(
            .init(name: making.picture.name, subject: making.subject, outputs: [making.output]),
            // The preview of a truncated picture shows the part that can be read.
            limits: .init(configuration.settings, onTruncated: .accept, raw: .preview),
            files: .init(from: [making.picture.file], into: [draft.target]), terms: .init(yields: true)
        ) { [self] result in
            Coordination.assumeIsolated { [self] in
                switch result {
                case .success: made(making, draft)
                case .failure(let failure): ended(making, draft, failure)
                }
            }
        }
        making.task = task
        pool.run(task)
    }

    private func made(_ making: PreviewMaking, _ draft: PreviewFolder.Draft) {
        madeCount += 1
        folder.keep(draft, as: making.key) { [self] file in
            switch file {
            case .success(let file): hand(file, to: making)
            case .failure(let error): end(making, error)
            }
        }
        freed()
    }

    private func ended(_ making: PreviewMaking, _ draft: PreviewFolder.Draft, _ failure: RenderTask.Failure) {
        folder.drop(draft)
        if let failure = JobFailure(failure, atTry: 1) {
            remember(failure, of: making.key.ofAnySize)
            end(making, failure)
        } else {
            end(making, Self.stopping)
        }
        freed()
    }

    private func freed() {
        inWork -= 1
        fill()
    }

    private func remember(_ failure: JobFailure, of key: PreviewKey) {
        let now = DispatchTime.now()
        if failures.count >= Self.mostFailures { failures = failures.filter { $0.value.until > now } }
        if failures.count >= Self.mostFailures { failures = [:] }
        failures[key] = (failure, now + Self.pause.dispatch)
    }

    // MARK: - Completion

    private func forget(_ making: PreviewMaking) {
        if makings[making.key] === making { makings[making.key] = nil }
    }

    private func end(_ making: PreviewMaking, _ error: any Error) {
        forget(making)
        // The task retains this object, so dropping the task breaks the cycle.
        making.task = nil
        for wish in making.wishes { wish.fail(error) }
        making.wishes = []
    }

    private func hand(_ file: Descriptor, to making: PreviewMaking) {
        forget(making)
        making.task = nil
        let (answers, name) = (making.wishes.compactMap { $0.take() }, making.name)
        making.wishes = []
        folder.open(file, for: answers.map { answer in { file in answer(file.map { (name, $0) }) } })
    }
}
