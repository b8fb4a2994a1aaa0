import DaemonConfiguration
import DaemonRuntime
import Dispatch
import Foundation
import Glibc
import JobLedger
package import OperationGraph
import PictureFiles
import PipelineModel
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
        /// The file, once it is durable.
        var file: FileStatus.Identity
    }

    private struct Box {
        var response: Response?
        var failure: JobFailure?
        var task: FetchTask?
        var figures = Figures(.bytes)
        var tries = 0
        var partial: FetchResume?
        /// The worker's latest report about the part that has arrived.
        var come: FetchResume?
        /// Bytes of the part that the ledger knows.
        var recorded: Int64 = 0
        var isRecording = false
        var keepsPart = false
    }

    /// Bytes between records of the part. A kill loses no more of the download than this, plus the bytes of one report.
    private static let portion: Int64 = 4 << 20

    let url: WebAddress
    private let path: String
    /// The part that an earlier download left at `path`.
    private let earlier: FetchResume?
    private let limits: DownloadLimits
    private let login: (host: String, login: HostLogin)?
    private let pool: FetchPool
    /// Runs work that may wait for the disk, in order.
    private let files = FileLane(threads: 1)
    private let record: @Sendable (FetchResume?, @escaping @Sendable () -> Void) -> Void
    private let box: Mutex<Box>

    /// Downloads into the file at `path`. If the file does not hold the part in `earlier`, it is made anew. `record`
    /// makes the description of the part durable, so that another daemon can resume it, and calls back afterwards. Nil
    /// if `string` is no http or https URL.
    init?(
        string: String, into path: String, goingOn earlier: FetchResume? = nil,
        limits: DownloadLimits = DownloadLimits(),
        login: (WebAddress) -> (host: String, login: HostLogin)? = { _ in nil }, pool: FetchPool,
        record: @escaping @Sendable (FetchResume?, @escaping @Sendable () -> Void) -> Void = { $1() }
    ) {
        guard let url = try? WebAddress(string) else { return nil }
        (self.earlier, self.url, self.path, self.limits, self.pool) = (earlier, url, path, limits, pool)
        self.login = login(url)
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
    /// The part that stays in the file after a failure or an interruption, if a later download can resume it.
    var partial: FetchResume? { box.withLock { $0.partial } }
    var account: JobStory.Account {
        box.withLock { JobStory.Account(written: $0.figures.done > 0 ? Int($0.figures.done) : nil) }
    }
    /// The bytes so far, and their total if the server has sent it.
    package var figures: Figures { box.withLock { $0.figures } }

    package override func execute() {
        pool.opening.async { [self] in
            do {
                try FileSystem.makeFolders(FileSystem.folder(of: path))
                let there = try FileSystem.status(path)?.size ?? 0
                guard let earlier else { return try begin(try open(O_CREAT | O_TRUNC), resume: nil) }
                // Without its part in the file, the record is worthless.
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

    /// Makes a later cancellation keep the part that has arrived.
    func keepPart() { box.withLock { $0.keepsPart = true } }

    private func open(_ flags: Int32 = 0) throws -> Descriptor {
        try Descriptor.open(path, O_WRONLY | O_NOFOLLOW | flags, mode: 0o644)
    }

    private func begin(_ target: Descriptor, resume: FetchResume?) throws {
        let login = try login.map { try $0.login.read(for: $0.host) }
        let task = FetchTask(
            url: url.text, resume: resume, limits: limits.transfer, login: login, target: target,
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

    // MARK: - On the way

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

    /// Syncs the bytes before the ledger records them.
    private func recordPart(_ part: FetchResume) {
        guard (try? FileSystem.sync(path)) != nil else { return box.withLock { $0.isRecording = false } }
        record(part) { [self] in
            box.withLock { box in
                box.recorded = max(box.recorded, part.offset)
                box.isRecording = false
            }
        }
    }

    // MARK: - The answer

    private func answered(_ result: Result<FetchedFile, FetchTask.Failure>) {
        box.withLock { $0.task = nil }
        switch result {
        case .success(let file): arrived(file)
        case .failure(.transfer(let failure)) where failure.kind == .changed && !isCancelled: forget()
        case .failure(.transfer(let failure)):
            guard let resume = failure.resume, tries <= limits.retries, !isCancelled else {
                return end(JobFailure(failure), keeping: isCancelled && !keepsPart ? nil : failure.kept)
            }
            // A part has arrived, so the rest may arrive as well.
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

    /// Begins again from byte 0. First the ledger must forget the old part: after a crash, it would resume new bytes as
    /// if they were the old ones.
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
            // The worker reads foreign bytes, so the length that it reports is checked.
            guard let there = try FileSystem.status(path), there.size == file.bytes else {
                throw JobFailure("the file is not as long as the fetch worker says")
            }
            let response = Response(
                url: file.url, status: file.status, name: DownloadName.name(said: file.name, url: url),
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

    /// Removes the partial file, unless a later attempt can resume it, before it reports the end. Without a failure the
    /// operation was cancelled.
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
