import DaemonConfiguration
import DaemonRuntime
import InboxWatching
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Receives the reports of a job's operations.
@Coordination
protocol JobOperationsDelegate: AnyObject {
    func downloading(_ job: Job, _ state: OperationState)
    func rendering(_ job: Job, _ state: OperationState)
    func publishing(_ job: Job, _ state: OperationState)
    /// Records the part of the file that an unfinished download has fetched. `part` is nil if no later attempt can
    /// resume the download.
    func recordPart(_ id: Int, _ part: FetchResume?, _ recorded: @escaping @Sendable () -> Void)
    /// A job in progress is delayed for this reason. `reason` is nil when the delay is over.
    func showWait(_ id: Int, _ reason: String?)
    /// The job's worker was lost, and another worker retries the picture.
    func lost(_ id: Int, _ failure: JobFailure, _ account: JobStory.Account)
    /// Records the publish intent. Answers false if the job was cancelled first, or if the ledger refuses the intent.
    func intend(_ id: Int, _ intent: PublishIntent, _ done: @escaping @Sendable (Bool) -> Void)
    /// Records that the job is done.
    func conclude(_ id: Int, _ outcome: Publisher.Outcome, _ done: @escaping @Sendable () -> Void)
}

/// Creates and starts the operations of jobs, and keeps or discards the pictures that they render.
@Coordination
final class JobOperations {
    /// Objects that provide the paths of originals and results, and that publish results.
    struct Files {
        var staging: Staging
        var claims: ClaimFolders
        var publisher: Publisher
    }

    private let ledger: Ledger
    private let configuration: ConfigurationInForce
    private let queues: Queues
    private let pool: WorkerPool
    private let fetch: FetchPool
    private let staging: Staging
    private let claims: ClaimFolders
    private let publisher: Publisher
    private let meters: Meters
    private var shares = DownloadShares()
    weak var delegate: (any JobOperationsDelegate)?

    init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ queues: Queues, _ workers: Workers, _ files: Files,
        _ meters: Meters
    ) {
        (self.ledger, self.configuration, self.queues) = (ledger, configuration, queues)
        (pool, fetch) = (workers.render, workers.fetch)
        (staging, claims, publisher) = (files.staging, files.claims, files.publisher)
        self.meters = meters
    }

    /// Creates a job with its operations up to the next barrier. Returns nil if there is no work before that barrier.
    func job(for record: JobRecord) -> Job? {
        let plan = record.plan
        // If the job has a publish intent, all its pictures are already rendered and only have to be published.
        let pictures = record.intent == nil ? plan.segments[record.segment].map { $0.saying(record.texts) } : []
        // A download needs a render operation after it even if there are no pictures to make, because the render
        // operation passes on the file.
        guard !pictures.isEmpty || record.needsDownload || record.intent != nil else { return nil }
        let names = JobNames(record.order, path: record.path, batch: record.batch, plan, ledger)
        let url = urlForOthers(record, plan, pictures)
        let download = url == nil ? download(record) : nil
        let render = render(record, plan, pictures, names, isDownloaded: download != nil, remote: url)
        guard record.segment == plan.segments.count - 1 else {
            return Job(record, meters, download, render, publish: nil, announce: nil)
        }
        let (publish, announce) = (publish(record, names), AnnounceOperation())
        publish.follow(render)
        announce.follow(publish)
        return Job(record, meters, download, render, publish: publish, announce: announce)
    }

    func start(_ job: Job) {
        let record = job.record
        let subject = LogSubject(record)
        if let download = job.download {
            job.render.follow(download)
            observe(download) { $0.downloading(job, $1) }
        }
        let isOfURL = record.needsDownload
        if isOfURL { shares.begin(job.render.isRemote) }
        observe(job.render) { [self] delegate, state in
            if isOfURL, state.isFinal {
                shares.end(job.render.isRemote, made: state == .finished, of: record.host)
            }
            delegate.rendering(job, state)
        }
        if let publish = job.publish { observe(publish) { $0.publishing(job, $1) } }
        if let download = job.download {
            queues.download.add(
                download, of: OperationSubject.job(subject), at: job.place, lane: lane(of: record, in: .download))
        }
        queues.render.add(
            job.render, of: OperationSubject.job(subject, segment: record.segment), at: job.place,
            lane: lane(of: record, in: .render))
        if let publish = job.publish { queues.publish.add(publish, of: OperationSubject.job(subject), at: job.place) }
        if let announce = job.announce { queues.announce.add(announce, of: OperationSubject.job(subject)) }
    }

    private func lane(of record: JobRecord, in queue: FirstQueue) -> GateLane.Name {
        let lane = record.lane(in: queue)
        let share = queue == .render ? configuration.now.recipe(lane.group)?.share : nil
        return GateLane.Name(lane.group, member: lane.member, share: share ?? 1)
    }

    /// Reports only `executing` and later states, because each report costs a turn of the coordination queue.
    private func observe(
        _ operation: AsyncOperation,
        _ report: @escaping @Coordination @Sendable (any JobOperationsDelegate, OperationState) -> Void
    ) {
        operation.observe { [self] _, state in
            guard state != .pending, state != .ready else { return }
            Coordination.async { if let delegate = self.delegate { report(delegate, state) } }
        }
    }

    private func download(_ record: JobRecord) -> DownloadOperation? {
        // If the job has a publish intent, another node has already downloaded and rendered the picture.
        guard record.needsDownload, record.intent == nil, let url = record.url else { return nil }
        return DownloadOperation(
            string: url, into: record.source, named: record.texts?.name, goingOn: record.partial,
            limits: DownloadLimits(configuration.settings.downloads),
            login: configuration.settings.login(for:), pool: fetch,
            record: { [self, id = record.id] part, done in
                Coordination.async {
                    guard let delegate = self.delegate else { return done() }
                    delegate.recordPart(id, part, done)
                }
            })
    }

    private func render(
        _ record: JobRecord, _ plan: Plan, _ pictures: [PlannedPicture], _ names: JobNames, isDownloaded: Bool,
        remote: RenderOperation.RemoteDownload?
    ) -> RenderOperation {
        let id = record.id
        return RenderOperation(
            RenderOperation.Work(
                name: record.path, subject: LogSubject(record), pictures: pictures,
                staging: pictures.map { staging.path(of: record, $0) },
                source: isDownloaded || remote != nil
                    ? nil : ImageHandle(source: record.source, modified: record.file.modified),
                remote: remote, size: record.size(of: pictures),
                inbox: record.origin == .spooled ? nil : record.order.inbox, earlier: record.staged(plan),
                limits: RenderTask.Limits(
                    configuration.settings, onTruncated: record.order.onTruncated, raw: record.order.raw),
                names: names, isNamed: record.intent != nil, suspect: record.crashes > 0,
                priority: isLendable(record) ? record.order.priority : nil),
            pool: pool, claims: claims,
            waits: { [self] reason in Coordination.async { self.delegate?.showWait(id, reason) } },
            lost: { [self] failure, account in Coordination.async { self.delegate?.lost(id, failure, account) } })
    }

    /// Returns the URL if another node should download and render the picture; nil otherwise. Among other conditions,
    /// the recipe must keep no original, and this node must have enough downloads of its own to keep its workers busy.
    private func urlForOthers(_ record: JobRecord, _ plan: Plan, _ pictures: [PlannedPicture])
        -> RenderOperation.RemoteDownload?
    {
        let settings = configuration.settings
        guard record.needsDownload, !shares.takeReturned(record.id), isLendable(record), record.intent == nil,
            record.partial == nil, record.texts?.name == nil, record.order.original == .delete, record.crashes == 0,
            plan.segments.count == 1,
            pictures.allSatisfy({ $0.source == nil && $0.condition == nil }), let host = record.host,
            shares.takes(host),
            shares.here >= 2 * queues.render.report.effective,
            let url = record.url.flatMap({ try? WebAddress($0) }),
            // URLs that contain secrets or need a login stay on this node.
            settings.login(for: url) == nil, url.shown == url.text
        else { return nil }
        let picture = RenderOperation.RemoteDownload(url: url, most: settings.downloads.maxSize) {
            [queue = queues.download] in
            queue.report.paused
        }
        let outputs = pictures.map { RenderOutput($0, wantsDate: record.order.wantsDate) }
        return pool.lends(outputs, picture.bytes, besides: shares.there) ? picture : nil
    }

    /// Makes this node download the picture next time.
    func downloadHere(_ record: JobRecord, because reason: JobFailure) {
        shares.downloadHere(record.id, host: reason.stage == FetchedFile.stage ? record.host : nil)
    }

    private func isLendable(_ record: JobRecord) -> Bool {
        configuration.settings.fleet.isOn && record.order.fleet == .yes
    }

    private func publish(_ record: JobRecord, _ names: JobNames) -> PublishOperation {
        let id = record.id
        return PublishOperation(
            order: record.order, path: record.path, resuming: record.intent,
            replacing: record.former.map {
                Publisher.EarlierResults(results: record.outputs, staging: staging.folder(in: $0.outbox))
            }, publisher: publisher,
            steps: PublishOperation.Steps(
                facts: { try names.facts($0) },
                intend: { [self] intent, done in
                    Coordination.async { self.delegate?.intend(id, intent, done) ?? done(false) }
                },
                conclude: { [self] outcome, done in
                    Coordination.async { self.delegate?.conclude(id, outcome, done) ?? done() }
                }))
    }

    // MARK: - Files

    /// Removes rendered pictures that won't be published.
    nonisolated func discard(_ image: ImageHandle, then done: @escaping @Sendable () -> Void = {}) {
        guard let path = image.staged.first?.path else { return done() }
        FileLanes.work(on: path).async { [publisher] in
            publisher.discard(image.staged)
            done()
        }
    }

    /// Makes rendered pictures durable, so that the job can leave the window at a barrier and continue from them later.
    func keep(_ image: ImageHandle, in outbox: String, done: @escaping @Coordination @Sendable ((any Error)?) -> Void) {
        publisher.line(of: outbox).take(
            OutboxLine.Turn(files: image.staged) {
                Set(image.staged.map { FileSystem.folder(of: $0.path) })
            } done: { error in
                Coordination.async { done(error) }
            })
    }
}

extension JobRecord {
    /// Returns the pictures that were rendered before a barrier.
    fileprivate func staged(_ plan: Plan) -> [ImageHandle.Staged] {
        let pictures = Dictionary(plan.pictures.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        return staged.compactMap { file in
            pictures[file.index].map { ImageHandle.Staged(picture: $0, path: file.path, result: file.result) }
        }
    }

    /// Returns the total size of the files from which these pictures are made.
    fileprivate func size(of pictures: [PlannedPicture]) -> Int {
        Set(pictures.map(\.source)).reduce(0) { size, source in
            guard let source else { return size + file.size }
            return size + Int(staged.first { $0.index == source }?.result.bytes ?? 0)
        }
    }
}
