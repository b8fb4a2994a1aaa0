import DaemonConfiguration
import DaemonRuntime
import Glibc
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Another node's picture, which this node renders. The stricter of both nodes' limits applies. The picture's files
/// have no names, so they vanish when this object is released.
@Coordination
final class GuestPicture {
    struct Offer {
        var id: Int
        var picture: LentPicture
        var origin: String
    }

    private let offer: Offer
    private let configuration: ConfigurationInForce
    private let fleet: FleetPool
    private let pool: WorkerPool
    private let fetch: FetchPool
    /// Whether this node's filters still match the origin's filters.
    private let hasItsFilters: () -> Bool
    private var sources: [Descriptor] = []
    private var task: RenderTask?
    private var transfer: FetchTask?
    private var downloaded: FetchedFile?
    private var header: PictureHeader?
    private var isOver = false

    init(
        _ offer: Offer, _ configuration: ConfigurationInForce, _ fleet: FleetPool, _ pool: WorkerPool,
        _ fetch: FetchPool, hasItsFilters: @escaping () -> Bool
    ) {
        self.offer = offer
        (self.configuration, self.fleet, self.pool, self.fetch) = (configuration, fleet, pool, fetch)
        self.hasItsFilters = hasItsFilters
    }

    private var id: Int { offer.id }
    private var picture: LentPicture { offer.picture }
    private var name: String { "\(picture.name) of node \(offer.origin)" }

    /// Creates the source files, and accepts the picture.
    func accept() {
        files(picture.bytes.sizes.count) { [self] sources in
            self.sources = sources
            fleet.accept(id, into: sources)
        } failed: { [self] error in
            fleet.refuse(id, because: "\(error)")
        }
    }

    /// Renders the picture. Downloads it first, if the origin lent it as a URL.
    func begin() {
        guard case .url(let text, let most) = picture.bytes else { return render() }
        guard let url = try? WebAddress(text) else { return fleet.refuse(id, because: "its URL is invalid") }
        files(1) { [self] files in
            download(url, most: most, into: files[0])
        } failed: { [self] error in
            fleet.refuse(id, because: "\(error)")
        }
    }

    /// Downloads under this node's limits and without a login. No login is necessary, because an origin lends a URL
    /// only if it has no login for that server.
    private func download(
        _ url: WebAddress, most: Int64, into file: Descriptor, _ resume: FetchResume? = nil, tries: Int = 1
    ) {
        var limits = DownloadLimits(configuration.settings.downloads)
        limits.transfer.maxSize = min(limits.transfer.maxSize, most)
        let retries = limits.retries
        let next = FetchTask(
            .init(url: url.text, limits: limits.transfer), resume: resume, into: file, progress: { _, _, _ in }
        ) { result in
            Coordination.assumeIsolated { [self] in
                transfer = nil
                guard !isOver else { return }
                switch result {
                case .success(let came): arrived(came, file)
                // Retries if the download can be resumed. If the file changed on the server, retries from the start.
                case .failure(.transfer(let failure))
                where (failure.resume != nil || failure.kind == .changed) && tries <= retries:
                    download(url, most: most, into: file, failure.resume, tries: tries + 1)
                case .failure(let reason): reportFailure(reason)
                }
            }
        }
        transfer = next
        fetch.run(next)
    }

    private func arrived(_ came: FetchedFile, _ file: Descriptor) {
        // The supervisor verifies the reported length, because the fetch worker reads foreign bytes and may be
        // compromised.
        guard (try? FileStatus(file.status()).size) == came.bytes, lseek(file.number, 0, SEEK_SET) == 0 else {
            return fleet.refuse(id, because: "the file does not have the length that the fetch worker reported")
        }
        (downloaded, sources) = (came, [file])
        render()
    }

    private func reportFailure(_ reason: FetchTask.Failure) {
        guard let known = JobFailure(reason), known.class != .room else {
            return fleet.refuse(id, because: JobFailure(reason)?.message ?? "the node stops")
        }
        fleet.failed(
            id,
            WorkerFailure(
                stage: FetchedFile.stage, message: known.message, advice: known.advice, class: known.class))
    }

    private func render() {
        files(picture.outputs.count) { [self] targets in
            let task = RenderTask(
                .init(name: name, outputs: picture.outputs), limits: limits,
                files: .init(from: sources, into: targets), terms: .init(yields: true),
                reports: .init(
                    opened: { header in Coordination.assumeIsolated { [self] in self.header = header } },
                    progress: { done, total in
                        Coordination.assumeIsolated { [self] in fleet.sendProgress(id, done: done, of: total) }
                    }),
                done: { result in Coordination.assumeIsolated { [self] in ended(result, targets) } })
            (self.task, sources) = (task, [])
            pool.run(task)
        } failed: { [self] error in
            fleet.refuse(id, because: "\(error)")
        }
    }

    /// The limits of the render task: for each limit, the stricter of the origin's value and this node's value.
    private var limits: RenderTask.Limits {
        var settings = configuration.settings
        settings.maxPixels = min(settings.maxPixels, picture.limits.maxPixels)
        settings.maxTexts = min(settings.maxTexts, picture.limits.maxTexts)
        settings.maxResult = min(settings.maxResult, picture.limits.maxResult)
        return RenderTask.Limits(settings, onTruncated: picture.limits.onTruncated, raw: picture.limits.raw)
    }

    private func ended(_ result: Result<[RenderedOutput], RenderTask.Failure>, _ targets: [Descriptor]) {
        task = nil
        guard !isOver else { return }
        switch result {
        case .success(let outputs):
            guard hasItsFilters() else { return fleet.refuse(id, because: "one of its filters has been replaced here") }
            guard let header else { return fleet.refuse(id, because: "the worker has not reported its header") }
            fleet.rendered(id, header, outputs, of: downloaded, in: targets)
        case .failure(let failure):
            reportFailure(failure)
        }
    }

    /// Reports a failure to the origin if the picture may have caused it. After any other failure, refuses the picture
    /// instead, so that the origin may ask another node.
    private func reportFailure(_ failure: RenderTask.Failure) {
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

    /// Cancels a download or render in flight, and releases the sources.
    func end() {
        isOver = true
        sources = []
        if let transfer { fetch.cancel(transfer) }
        if let task { pool.cancel(task) }
    }

    private func files(_ count: Int, then: @escaping Done<[Descriptor]>, failed: @escaping Done<any Error>) {
        let folder = configuration.places.state
        FileLanes.work(on: folder).async { [self] in
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
