package import DaemonRuntime
import Glibc
package import JobModel
import PipelineModel
package import SystemCalls
import WorkerPools

/// A picture of a job, open for reading.
package struct JobPicture: Sendable {
    package var name: String
    package var file: Descriptor
    package var identity: FileStatus.Identity
    /// The worker's description of the picture if the picture is a result. Nil for an original, and for a result
    /// without a recorded description.
    package var made: JobStory.Picture?

    /// Maximum size of a result that clients get in place of a preview.
    private static let mostBytes = 64 << 10

    /// Whether the picture is a small result that any browser can show, with no side longer than `side`.
    package func isSmall(side: Int) -> Bool {
        guard let made, identity.size <= Self.mostBytes, made.bytes == identity.size, made.pages == 1 else {
            return false
        }
        return ["jpeg", "png", "webp"].contains(made.format) && max(made.width, made.height) <= side
    }
}

/// Opens pictures of jobs for clients: an original at its current path, or a result in its outbox. The calls block on
/// the disks of these files.
///
/// Other users may write to these folders, and could replace a picture with a link to a secret file. Therefore this
/// type never follows a link at the last path component, and hands out a file only if its identity matches the ledger's
/// record.
package struct JobPictures: Sendable {
    package let originals: OriginalPlaces

    package init(originals: OriginalPlaces) {
        self.originals = originals
    }

    /// The `FileLane` on which to open this picture, because its disk may block.
    package func lane(of result: Int?, of job: JobRecord) -> FileLane {
        let path = result.flatMap { $0 >= 1 && $0 <= job.outputs.count ? job.outputs[$0 - 1].path : nil }
        return FileLanes.looks(at: path ?? job.source)
    }

    /// Opens the job's result with the number `result`, from 1, or its original if `result` is nil.
    package func open(_ result: Int?, of job: JobRecord) throws -> JobPicture {
        try result.map { try open(result: $0, of: job) } ?? openOriginal(of: job)
    }

    private func open(result number: Int, of job: JobRecord) throws -> JobPicture {
        guard number >= 1, number <= job.outputs.count else {
            let results =
                job.outputs.isEmpty
                ? "no results" : job.outputs.count == 1 ? "one result" : "\(job.outputs.count) results"
            throw JobFailure("job \(job.id), which is \(job.state.rawValue), has \(results)")
        }
        let result = job.outputs[number - 1]
        let (file, there) = try opened(FilePlace(result.path), result.path)
        guard result.file?.isStill(there, at: result.path) == true else {
            throw JobFailure("\(result.path) is not the file that job \(job.id) has published; somebody has changed it")
        }
        let after = job.story?.after ?? []
        return JobPicture(
            name: FileSystem.name(of: result.path), file: file, identity: there,
            made: after.count == job.outputs.count ? after[number - 1] : nil)
    }

    private func openOriginal(of job: JobRecord) throws -> JobPicture {
        if let removed = job.removed { throw JobFailure("the original of job \(job.id) was \(removed.text)") }
        if job.disposed, job.removesOriginal {
            throw JobFailure("the original of job \(job.id) was removed when the job was done")
        }
        if job.needsDownload { throw JobFailure("the original of job \(job.id) has not been downloaded yet") }
        guard let filePlace = try originals.filePlace(job.source, of: job) else {
            throw SystemError("open", job.source, code: ENOENT)
        }
        let (file, there) = try opened(filePlace, job.source)
        guard job.isUnchangedOriginal(there) else {
            throw JobFailure("\(job.source) is not the original of job \(job.id); somebody has changed it")
        }
        return JobPicture(name: FileSystem.name(of: job.path), file: file, identity: there)
    }

    private func opened(_ filePlace: FilePlace, _ path: String) throws -> (Descriptor, FileStatus.Identity) {
        do {
            // Opening a named pipe without O_NONBLOCK would wait for its writer.
            let file = try filePlace.open(O_RDONLY | O_NONBLOCK | O_NOCTTY)
            let status = FileStatus(try file.status())
            guard status.kind == .file else { throw JobFailure("\(path) is no longer a file") }
            return (file, status.identity)
        } catch let error as SystemError where error.code == ENOENT {
            throw JobFailure("\(path) is not there any more: somebody, `pipectl clean` or [Keep] has removed it")
        } catch let error as SystemError {
            throw JobFailure("\(path) can't be opened: \(error.reason)")
        }
    }
}
