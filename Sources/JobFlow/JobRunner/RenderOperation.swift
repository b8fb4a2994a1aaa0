import DaemonRuntime
import Dispatch
import Foundation
import Glibc
import InboxWatching
import JobModel
package import OperationGraph
package import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Renders the pictures of one segment of the plan: every stage of every output up to the next barrier. One worker
/// renders all pictures that have the same source.
package final class RenderOperation: AsyncOperation, ImageProviding, @unchecked Sendable {
    // `@unchecked`: all mutable state is in `box`.

    struct Work: Sendable {
        var name: String
        var subject: LogSubject
        /// The pictures to render; `staging` contains a path for each.
        var pictures: [PlannedPicture]
        var staging: [String]
        /// Nil if the download operation provides the picture, or if another node downloads it.
        var source: ImageHandle?
        /// The picture's URL, if another node downloads and renders the picture. This node then has no original.
        var remote: RemoteDownload?
        /// Total size of the source files in bytes.
        var size: Int
        /// The inbox that contains the original, if any. Other users can move files in an inbox.
        var inbox: String?
        /// Pictures that were rendered before a barrier.
        var earlier: [ImageHandle.Staged] = []
        var limits: RenderTask.Limits
        var names: JobNames
        /// Whether the names of the results have been chosen already.
        var isNamed = false
        /// Whether the job was running when the daemon crashed. If so, its picture is rendered alone.
        var suspect: Bool
        /// Nil if the picture must not be lent to other nodes.
        var priority: Priority?
    }

    struct RemoteDownload: Sendable {
        var url: WebAddress
        /// Maximum bytes of the download.
        var most: Int64
        /// Whether the download queue is paused.
        var isPaused: @Sendable () -> Bool

        var bytes: LentBytes { .url(url.text, most: most) }
    }

    private struct Box {
        var choice: RenderChoice
        var image: ImageHandle?
        var failure: JobFailure?
        var header: PictureHeader?
        var task: RenderTask?
        var results: [Int: RenderedOutput] = [:]
        var tries = 0
        /// The worker process that rendered the picture last.
        var worker: Int32?
        /// The other node that rendered the picture, if any.
        var node: String?
        /// The file that the other node has downloaded.
        var downloaded: FetchedFile?
        /// Why this node has to download the picture itself.
        var fallbackReason: JobFailure?
        var figures = Figures(.pixels)

        init(_ choice: RenderChoice) { self.choice = choice }
    }

    private let work: Work
    private let pool: WorkerPool
    private let claims: ClaimFolders
    /// Called with a reason when the operation has to wait, and with nil when it resumes.
    private let waits: @Sendable (String?) -> Void
    /// Called before another attempt, with the failure and the account of the previous attempt.
    private let lost: @Sendable (JobFailure, JobStory.Account) -> Void
    private let box: Mutex<Box>

    init(
        _ work: Work, pool: WorkerPool, claims: ClaimFolders,
        waits: @escaping @Sendable (String?) -> Void,
        lost: @escaping @Sendable (JobFailure, JobStory.Account) -> Void
    ) {
        (self.waits, self.lost, self.work) = (waits, lost, work)
        (self.pool, self.claims) = (pool, claims)
        box = Mutex(Box(RenderChoice(work.pictures, work.staging)))
    }

    private var parts: [RenderChoice.Part] { box.withLock { $0.choice.parts } }
    /// The pictures that this operation renders.
    private var pictures: [PlannedPicture] { parts.flatMap(\.pictures) }
    /// The outputs whose conditions the original does not meet, in the order of the recipe.
    var unwanted: [UnwantedOutput] { box.withLock { $0.choice.unwanted } ?? [] }

    private var input: ImageHandle? { provided(ImageHandle.self) ?? work.source ?? downloaded }

    /// The picture that another node has downloaded. Its bytes are not on this node.
    private var downloaded: ImageHandle? {
        guard let url = work.remote?.url, let file = box.withLock({ $0.downloaded }) else { return nil }
        return ImageHandle(
            source: "", name: DownloadName.name(said: file.name, url: url), size: Int(file.bytes),
            modified: Int(Timestamp.now() * 1e9))
    }

    var isRemote: Bool { work.remote != nil }
    /// The name of the file that another node has downloaded.
    var downloadedName: String? { downloaded?.name }
    /// Why this node has to download the picture itself after all.
    var fallbackReason: JobFailure? { box.withLock { $0.fallbackReason } }
    package var image: ImageHandle? { box.withLock { $0.image } }
    var failure: JobFailure? { box.withLock { $0.failure } }
    var header: PictureHeader? { box.withLock { $0.header } }
    var tries: Int { box.withLock { $0.tries } }
    /// Progress of the latest attempt: the picture's pixels, counted once for each result.
    package var figures: Figures { box.withLock { $0.figures } }
    /// Details for the job's story: outputs without a result, metadata that the results lost, the results' gain maps,
    /// the decoder path and the other node. Example: `thumb without IPTC, which png can't hold; jpeg, whole (…)`.
    var detail: String? {
        let (header, image, node) = box.withLock { ($0.header, $0.image, $0.node) }
        let lacks: [String] = (image?.staged ?? []).flatMap { staged -> [String] in
            guard let result = staged.result else { return [] }
            let name = staged.picture.name.map { "\($0) " } ?? ""
            func without(_ parts: [String]?, _ why: String) -> String? {
                parts.map { "\(name)without \($0.joined(separator: " and ")), which \(why)" }
            }
            return [
                without(result.lost, "\(result.format) can't hold"), without(result.dropped, "no result keeps"),
                result.gainMap.map { name + $0 },
            ].compactMap(\.self)
        }
        let words =
            unwanted.map { "no result\($0.output == nil ? ":" : " of") \($0.words)" } + lacks
            + (header.map { [$0.decoderPaths.joined(separator: ", ")] } ?? [])
            + (node.map { [isRemote ? "downloaded and made on node \($0)" : "on node \($0)"] } ?? [])
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }
    /// The account of the latest attempt.
    var account: JobStory.Account {
        let size = input?.size ?? work.size
        return box.withLock { box in
            let written =
                box.image.map { $0.staged.reduce(0) { $0 + ($1.result?.bytes ?? 0) } } ?? box.failure?.written ?? 0
            return JobStory.Account(
                worker: box.worker.map(Int.init), read: box.header == nil ? nil : size,
                written: written > 0 ? Int(written) : nil)
        }
    }

    package override func execute() {
        // Without an input, the preceding download has failed or was cancelled.
        guard input != nil || isRemote else { return finish(.cancelled) }
        box.withLock { box in
            box.tries += 1
            (box.worker, box.node) = (nil, nil)
            box.header = nil
            box.figures.begin()
        }
        if work.remote?.isPaused() == true { return fallBack(because: JobFailure("the download queue is paused")) }
        if box.withLock({ $0.choice.unwanted == nil }) { look() } else { begin(0) }
    }

    /// Makes a worker read the facts that the outputs' conditions refer to.
    private func look() {
        guard let input else { return finish(.cancelled) }
        onDisk(of: input.source) { [self] in
            let place = try work.names.place(input)
            return (try fileWork.during(input.source) { try open(input.source) }, place)
        } then: { [self] opened in
            do {
                let (file, place) = try opened.get()
                let wish = RenderTask.Wish(name: work.name, subject: work.subject, outputs: [.facts])
                run(
                    RenderTask(lookingAt: file, for: wish, limits: work.limits) { [self] result in
                        looked(result, place)
                    })
            } catch {
                failedToOpen(error)
            }
        }
    }

    private func looked(_ result: Result<PictureHeader, RenderTask.Failure>, _ place: PicturePlace) {
        box.withLock { $0.task = nil }
        switch result {
        case .success(let header):
            guard let facts = header.facts else {
                return failed(JobFailure("the worker answered without the picture's facts", class: .crash))
            }
            box.withLock { $0.choice.choose(by: facts, place) }
            begin(0)
        case .failure(let reason):
            if let failure = JobFailure(reason, atTry: tries) { failed(failure) } else { end(.cancelled, nil) }
        }
    }

    /// Renders the pictures of one source, `parts[number]`, and then the parts after it. Each part goes to a free
    /// worker.
    private func begin(_ number: Int) {
        let parts = parts
        guard number < parts.count else { return made() }
        let paths = paths(of: parts[number])
        onDisk(of: paths.first ?? parts[number].staging[0]) { [self] in
            if number == 0, !work.isNamed, let input { try work.names.check(input) }
            return try paths.map { path in try fileWork.during(path) { try open(path) } }
        } then: { [self] sources in
            do { openTargets(number, sources: try sources.get()) } catch { failedToOpen(error) }
        }
    }

    /// Runs `body`, which may wait for the disk of `path`, in that disk's lane. The time in the lane's queue counts as
    /// file work, too: if the disk does not answer, the work ahead hangs, and the daemon must notice that this job is
    /// affected.
    private func onDisk<Value: Sendable>(
        of path: String, _ body: @escaping @Sendable () throws -> Value,
        then next: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        fileWork.begin(path)
        FileLanes.work(on: path).async { [self] in
            let result = Result { try body() }
            fileWork.end()
            next(result)
        }
    }

    private func failedToOpen(_ error: any Error) {
        end(.failed, error as? JobFailure ?? JobFailure(error, during: "opening the picture"))
    }

    private func open(_ path: String) throws -> Descriptor {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let inbox = work.inbox, FileSystem.lies(path, within: inbox) else {
            return try Descriptor.open(path, flags)
        }
        return try claims.openOriginal(path, of: inbox, flags)
    }

    /// Returns the paths of the files that the part is made from. The last path is the original. If the part continues
    /// from a picture that was rendered before the barrier, the first path is that picture. Returns no paths if another
    /// node downloads the picture.
    private func paths(of part: RenderChoice.Part) -> [String] {
        isRemote ? [] : work.earlier.filter { $0.picture.index == part.source }.map(\.path) + [input?.source ?? ""]
    }

    package override func interrupt() {
        if let task = box.withLock({ $0.task }) { pool.cancel(task) }
    }

    private func openTargets(_ number: Int, sources: [Descriptor]) {
        let parts = parts
        let paths = parts[number].staging
        onDisk(of: paths[0]) { [self] in
            try paths.map(openStaging)
        } then: { [self] targets in
            switch targets {
            case .success(let targets):
                do { run(try makeTask(number, sources: sources, targets: targets)) } catch { failedToOpen(error) }
            case .failure(let error):
                end(.failed, JobFailure(error, inOutboxDuring: "making the result in the outbox"))
            }
        }
    }

    private func openStaging(_ path: String) throws -> Descriptor {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW
        do {
            return try Descriptor.open(path, flags)
        } catch let error where error.code == ENOENT {
            try FileSystem.makeFolders(FileSystem.folder(of: path))
            return try Descriptor.open(path, flags)
        }
    }

    private func makeTask(_ number: Int, sources: [Descriptor], targets: [Descriptor]) throws -> RenderTask {
        RenderTask(
            .init(
                name: work.name, subject: work.subject,
                outputs: parts[number].pictures.map { RenderOutput($0, wantsDate: work.names.wantsDate) }),
            limits: work.limits, files: .init(from: sources, into: targets),
            terms: .init(alone: work.suspect || tries > 1, lending: try lending(sources)),
            reports: .init(
                waits: waits,
                begun: { [self] worker in box.withLock { ($0.worker, $0.node) = (worker, nil) } },
                opened: { [self] header in opened(header) },
                progress: { [self] done, total in read(Double(done) / Double(max(1, total)), of: number) }),
            done: { [self] result in answered(number, result) })
    }

    private func lending(_ sources: [Descriptor]) throws -> Lending? {
        guard let priority = work.priority else { return nil }
        let sizes = try sources.map { Int64(FileStatus(try $0.status()).size) }
        return Lending(priority: priority, bytes: work.remote?.bytes ?? .sources(sizes)) { [self] node in
            box.withLock { $0.node = node }
            setAside()
            waits("with the fleet" + (node.map { ", on \($0)" } ?? ""))
        } downloaded: { [self] file in
            box.withLock { $0.downloaded = file }
        }
    }

    private func opened(_ header: PictureHeader) {
        let count = pictures.count
        box.withLock { box in
            guard box.header == nil else { return }
            box.header = header
            // Assumes that the pictures of later parts have as many pixels as the pictures of the first part.
            let outputs = max(1, header.framesTaken.count)
            box.figures.begin(total: header.pixelsToRead / Int64(outputs) * Int64(count))
        }
    }

    /// Updates the progress. All results count equally, because the sizes of later parts are unknown until their
    /// sources are opened.
    private func read(_ fraction: Double, of number: Int) {
        let parts = parts
        let (before, all) = (
            parts[..<number].reduce(0) { $0 + $1.pictures.count }, parts.reduce(0) { $0 + $1.pictures.count }
        )
        let made = Double(before) + min(1, fraction) * Double(parts[number].pictures.count)
        box.withLock { box in
            guard let total = box.figures.total else { return }
            box.figures.take(Int64(Double(total) * made / Double(all)), of: total)
        }
    }

    private func run(_ task: RenderTask) {
        box.withLock { $0.task = task }
        if isCancelled { pool.cancel(task) }
        pool.run(task)
    }

    private func answered(_ number: Int, _ result: Result<[RenderedOutput], RenderTask.Failure>) {
        let parts = parts
        box.withLock { $0.task = nil }
        switch result {
        case .success(let results) where results.count == parts[number].pictures.count:
            box.withLock { box in
                for (picture, result) in zip(parts[number].pictures, results) { box.results[picture.index] = result }
            }
            begin(number + 1)
        case .success:
            failed(JobFailure("the worker answered with the wrong number of results", class: .crash))
        case .failure(.notLent): fallBack(because: JobFailure("no node takes it"))
        case .failure(let reason):
            if let failure = JobFailure(reason, atTry: tries) { failed(failure) } else { end(.cancelled, nil) }
        }
    }

    private func failed(_ failure: JobFailure) {
        if isRemote, !isCancelled { return fallBack(because: failure) }
        guard failure.class.retryPolicy == .alone, tries < 2, !isCancelled else { return end(.failed, failure) }
        lost(failure, account)
        execute()
    }

    /// Cancels the operation, so that this node downloads the picture itself. The attempt of the other node does not
    /// count.
    private func fallBack(because reason: JobFailure) {
        box.withLock { ($0.fallbackReason, $0.tries) = (reason, 0) }
        end(.cancelled, nil)
    }

    private func made() {
        let (header, results) = box.withLock { ($0.header, $0.results) }
        guard var image = input else {
            return isRemote
                ? fallBack(because: JobFailure("the other node did not describe its download")) : finish(.cancelled)
        }
        image.header = header
        image.staged = parts.flatMap { zip($0.pictures, $0.staging) }.map { picture, path in
            ImageHandle.Staged(picture: picture, path: path, result: results[picture.index])
        }
        image.earlier = work.earlier
        if isRemote {
            do { try work.names.check(image) } catch {
                return fallBack(because: error as? JobFailure ?? JobFailure(error, during: "naming the results"))
            }
        }
        box.withLock { [image] in $0.image = image }
        finish(.finished)
    }

    /// Removes the operation's staging files, then finishes the operation.
    private func end(_ outcome: OperationState, _ failure: JobFailure?) {
        let paths = work.staging
        guard let first = paths.first else { return ended(outcome, failure) }
        onDisk(of: first) {
            let written = failure == nil ? 0 : paths.reduce(0) { $0 + ((try? FileSystem.status($1))?.size ?? 0) }
            for path in paths { UnneededFile.remove(path) }
            return written
        } then: { [self] written in
            var failure = failure
            failure?.written = (try? written.get()) ?? 0
            ended(outcome, failure)
        }
    }

    private func ended(_ outcome: OperationState, _ failure: JobFailure?) {
        box.withLock { $0.failure = failure }
        finish(outcome)
    }
}
