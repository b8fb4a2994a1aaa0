import DaemonRuntime
import PipelineModel
import SystemCalls
import WorkerPools
import WorkerProtocol

/// A picture of another node, which is rendered here under this node's own limits. Its files have no names, and are gone with
/// it.
@Coordination
final class TakenPicture {
    private let id: Int
    private let picture: LentPicture
    private let origin: String
    private let configuration: ConfigurationInForce
    private let fleet: FleetPool
    private let pool: WorkerPool
    private var sources: [Descriptor] = []
    private var task: RenderTask?
    private var header: PictureHeader?
    private var isOver = false

    init(
        _ id: Int, _ picture: LentPicture, from origin: String, _ configuration: ConfigurationInForce,
        _ fleet: FleetPool, _ pool: WorkerPool
    ) {
        (self.id, self.picture, self.origin) = (id, picture, origin)
        (self.configuration, self.fleet, self.pool) = (configuration, fleet, pool)
    }

    private var name: String { "\(picture.name) of node \(origin)" }

    /// Makes the files for its bytes.
    func accept() {
        files(picture.sizes.count) { [self] sources in
            self.sources = sources
            fleet.accept(id, into: sources)
        } failed: { [self] error in
            fleet.refuse(id, because: "\(error)")
        }
    }

    /// Its bytes are here.
    func render() {
        files(picture.outputs.count) { [self] targets in
            let task = RenderTask(
                name: name, subject: LogSubject(), outputs: picture.outputs, limits: limits, alone: false, yields: true,
                sources: sources, targets: targets, waits: { _ in }, begun: { _ in },
                opened: { header in Coordination.assumeIsolated { [self] in self.header = header } },
                progress: { done, total in
                    Coordination.assumeIsolated { [self] in fleet.tell(id, done: done, of: total) }
                },
                done: { result in Coordination.assumeIsolated { [self] in ended(result, targets) } })
            (self.task, sources) = (task, [])
            pool.run(task)
        } failed: { [self] error in
            fleet.refuse(id, because: "\(error)")
        }
    }

    /// The stricter of the origin's limits and this node's own.
    private var limits: RenderTask.Limits {
        var settings = configuration.settings
        settings.maxPixels = min(settings.maxPixels, picture.limits.maxPixels)
        settings.maxResult = min(settings.maxResult, picture.limits.maxResult)
        return RenderTask.Limits(settings, onTruncated: picture.limits.onTruncated, raw: picture.limits.raw)
    }

    private func ended(_ result: Result<[RenderedOutput], RenderTask.Failure>, _ targets: [Descriptor]) {
        task = nil
        guard !isOver else { return }
        switch result {
        case .success(let outputs):
            guard let header else { return }
            fleet.rendered(id, header, outputs, in: targets)
        case .failure(let failure):
            tell(failure)
        }
    }

    /// What would happen to the picture everywhere is told to its origin. For what is wrong here another node may have it.
    private func tell(_ failure: RenderTask.Failure) {
        switch (failure, JobFailure(failure, atTry: 1)) {
        case (.picture(let known), _) where known.class == .input: fleet.failed(id, known)
        case (.timedOut, let known?), (.workerLost, let known?), (.confined, let known?):
            fleet.failed(
                id,
                WorkerFailure(
                    stage: known.stage ?? "render", message: known.message, advice: known.advice, class: known.class))
        case (_, let known): fleet.refuse(id, because: known?.message ?? "the node stops")
        }
    }

    /// Nobody wants it any more, or everything is said.
    func end() {
        isOver = true
        sources = []
        if let task { pool.cancel(task) }
    }

    private func files(
        _ count: Int, then: @escaping @Coordination @Sendable ([Descriptor]) -> Void,
        failed: @escaping @Coordination @Sendable (any Error) -> Void
    ) {
        let folder = configuration.places.state
        FileQueue.async { [self] in
            let made = Result { try (0..<count).map { _ in try Descriptor.unnamed(in: folder) } }
            Coordination.async { [self] in
                guard !isOver else { return }
                switch made {
                case .success(let files): then(files)
                case .failure(let error): failed(error)
                }
            }
        }
    }
}
