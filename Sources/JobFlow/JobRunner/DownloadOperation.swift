import DaemonConfiguration
import DaemonRuntime
import Dispatch
import Foundation
import Glibc
import JobModel
package import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import WorkerPools
import WorkerProtocol

/// Downloads a URL into a file with the fetch worker, and passes the file on as a picture.
package final class DownloadOperation: AsyncOperation, ImageProviding, @unchecked Sendable {
    // `@unchecked`: all mutable state is in `box`.

    /// The server's answer.
    struct Response: Sendable, Hashable {
        /// The address after all redirects.
        var url: String
        var status: Int
        /// A safe file name.
        var name: String
        var bytes: Int64
        /// Identity of the downloaded file, which is durable.
        var file: FileStatus.Identity
    }

    private struct Box {
        var response: Response?
        var failure: JobFailure?
        var task: FetchTask?
        var figures = Figures(.bytes)
        var tries = 0
        var partial: FetchResume?
        /// The part that has been downloaded so far, according to the worker's latest report.
        var come: FetchResume?
        /// Size of the part that the ledger has recorded.
        var recorded: Int64 = 0
        var isRecording = false
        var keepsPart = false
    }

    /// Bytes of progress after which the ledger records the partial download again. If the daemon is killed, the
    /// download loses at most this many bytes, plus the bytes of one progress report.
    private static let portion: Int64 = 4 << 20

    let url: WebAddress
    private let path: String
    /// The name that a user has given to the picture.
    private let given: String?
    /// The partial download that an earlier attempt left at `path`.
    private let earlier: FetchResume?
    private let limits: DownloadLimits
    private let login: (host: String, login: HostLogin)?
    private let pool: FetchPool
    /// Runs work that may wait for the disk, one task after another.
    private let files = FileLane(threads: 1)
    private let record: @Sendable (FetchResume?, @escaping @Sendable () -> Void) -> Void
    private let box: Mutex<Box>

    /// Downloads into the file at `path`. Starts from byte 0 if the file does not contain the part described in
    /// `earlier`. `record` makes the description of a part durable, and then calls its second argument. With this
    /// description, a restarted daemon can resume the download. Returns nil if `string` is not an http or https URL.
    init?(
        string: String, into path: String, named given: String? = nil, goingOn earlier: FetchResume? = nil,
        limits: DownloadLimits = DownloadLimits(),
        login: (WebAddress) -> (host: String, login: HostLogin)? = { _ in nil }, pool: FetchPool,
        record: @escaping @Sendable (FetchResume?, @escaping @Sendable () -> Void) -> Void = { $1() }
    ) {
        guard let url = try? WebAddress(string) else { return nil }
        (self.earlier, self.url, self.path, self.limits, self.pool) = (earlier, url, path, limits, pool)
        self.login = login(url)
        self.given = given
        self.record = record
        box = Mutex(Box(partial: earlier))
    }

    var image: ImageHandle? {
        response.map {
            ImageHandle(source: path, name: $0.name, size: Int($0.bytes), modified: $0.file.modified)
        }
    }
    var response: Response? { box.withLock { $0.response } }
    var failure: JobFailure? { box.withLock { $0.failure } }
    var tries: Int { box.withLock { $0.tries } }
    /// The part that stays in the file after a failure or an interruption; nil if no later download can resume it.
    var partial: FetchResume? { box.withLock { $0.partial } }
    var account: JobStory.Account {
        box.withLock { JobStory.Account(written: $0.figures.done > 0 ? Int($0.figures.done) : nil) }
    }
    /// The number of bytes downloaded so far, and the total if the server has sent it.
    package var figures: Figures { box.withLock { $0.figures } }

    package override func execute() {
        pool.opening.async { [self] in
            do {
                try FileSystem.makeFolders(FileSystem.folder(of: path))
                let there = try FileSystem.status(path)?.size ?? 0
                guard let earlier else { return try begin(try open(O_CREAT | O_TRUNC), resume: nil) }
                // The file does not contain the recorded part, so the download starts again.
                guard earlier.offset > 0, there >= earlier.offset else { return forget() }
                try begin(try open(), resume: earlier)
            } catch let failure as JobFailure {
                end(failure, keeping: earlier)
            } catch {
                end(JobFailure(error, during: "making the file to download into"))
            }
        }
    }

    package override func interrupt() {
        if let task = box.withLock({ $0.task }) { pool.cancel(task) }
    }

    /// After this call, a cancellation keeps the part that has been downloaded.
    func keepPart() { box.withLock { $0.keepsPart = true } }

    private func open(_ flags: Int32 = 0) throws -> Descriptor {
        try Descriptor.open(path, O_WRONLY | O_NOFOLLOW | flags, mode: 0o644)
    }

    private func begin(_ target: Descriptor, resume: FetchResume?) throws {
        let login = try login.map { try $0.login.read(for: $0.host) }
        let task = FetchTask(
            .init(url: url.text, limits: limits.transfer, login: login), resume: resume, into: target,
            progress: { [self] received, total, kept in heard(received, total, kept) },
            done: { [self] result in files.async { self.answered(result) } })
        box.withLock { box in
            box.task = task
            box.tries += 1
            (box.come, box.recorded) = (resume, resume?.offset ?? 0)
            box.figures.begin(done: resume?.offset ?? 0)
        }
        if isCancelled { pool.cancel(task) }
        pool.run(task)
    }

    // MARK: - Progress

    private func heard(_ received: Int64, _ total: Int64?, _ kept: FetchResume?) {
        let isDue = box.withLock { box in
            box.figures.take(received, of: total)
            box.come = kept
            guard !box.isRecording, let kept, kept.offset >= box.recorded + Self.portion else { return false }
            box.isRecording = true
            return true
        }
        if isDue, let kept { files.async { self.recordPart(kept) } }
    }

    /// Syncs the file before the ledger records the part, so that a power cut can't lose recorded bytes.
    private func recordPart(_ part: FetchResume) {
        guard (try? FileSystem.sync(path)) != nil else { return box.withLock { $0.isRecording = false } }
        record(part) { [self] in
            box.withLock { box in
                box.recorded = max(box.recorded, part.offset)
                box.isRecording = false
            }
        }
    }

    // MARK: - Result

    private func answered(_ result: Result<FetchedFile, FetchTask.Failure>) {
        box.withLock { $0.task = nil }
        switch result {
        case .success(let file): arrived(file)
        case .failure(.transfer(let failure)) where failure.kind == .changed && !isCancelled: forget()
        case .failure(.transfer(let failure)):
            guard let resume = failure.resume, tries <= limits.retries, !isCancelled else {
                return end(JobFailure(failure), keeping: isCancelled && !keepsPart ? nil : failure.kept)
            }
            // Part of the file has arrived, so an immediate retry can resume the download.
            do { try begin(try open(), resume: resume) } catch {
                end(
                    error as? JobFailure ?? JobFailure(error, during: "going on with the download"),
                    keeping: failure.kept)
            }
        case .failure(.cancelled): end(nil, keeping: keepsPart ? box.withLock { $0.come } : nil)
        case .failure(let reason): end(JobFailure(reason))
        }
    }

    private var keepsPart: Bool { box.withLock { $0.keepsPart } }

    /// Starts again from byte 0. The ledger must forget the old part first. Otherwise, after a crash, the daemon would
    /// resume the download as if the new bytes in the file were the old part.
    private func forget() { record(nil) { [self] in files.async { self.beginAgain() } } }

    private func beginAgain() {
        do { try begin(try open(O_CREAT | O_TRUNC), resume: nil) } catch {
            end(error as? JobFailure ?? JobFailure(error, during: "beginning the download again"))
        }
    }

    private func arrived(_ file: FetchedFile) {
        do {
            try FileSystem.sync(path)
            try FileSystem.sync(FileSystem.folder(of: path))
            // The worker handles untrusted data, so the supervisor checks the length that the worker reports.
            guard let there = try FileSystem.status(path), there.size == file.bytes else {
                throw JobFailure("the file is not as long as the fetch worker says")
            }
            let response = Response(
                url: file.url, status: file.status,
                name: DownloadName.given(given, else: DownloadName.name(said: file.name, url: url)),
                bytes: file.bytes, file: there.identity)
            box.withLock { box in
                (box.response, box.partial) = (response, nil)
                box.figures.take(file.bytes, of: file.bytes)
            }
            finish(.finished)
        } catch {
            end(error as? JobFailure ?? JobFailure(error, during: "keeping the download"))
        }
    }

    /// Removes the partial file, unless a later attempt can resume the download. Then finishes the operation as failed,
    /// or as cancelled if `failure` is nil.
    private func end(_ failure: JobFailure?, keeping kept: FetchResume? = nil) {
        var failure = failure
        failure?.stage = FetchedFile.stage
        failure?.written = (try? FileSystem.status(path))?.size ?? 0
        let partial = [nil, .transient].contains(failure?.class) ? kept : nil
        if partial == nil || (try? FileSystem.sync(path)) == nil { try? FileSystem.remove(path) }
        box.withLock { [failure] box in
            box.partial = partial
            box.failure = failure
            box.response = nil
        }
        finish(failure == nil ? .cancelled : .failed)
    }
}
