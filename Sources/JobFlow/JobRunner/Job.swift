package import DaemonRuntime
package import JobLedger
package import JobModel
package import OperationGraph
import PictureFiles
package import PipelineModel
import SystemCalls
package import WorkerPools
package import WorkerProtocol

/// A job in the window of the job queue: its record and its operations.
@Coordination
package final class Job {
    package var record: JobRecord
    private let meters: Meters
    /// The lane in which the job has entered the window.
    package let lane: Lane
    package let entry: FirstQueue
    /// Downloads the URL. Nil in three cases: the job has no URL; the picture is already on this node; another node
    /// downloads or has downloaded the picture.
    package let download: DownloadOperation?
    package let render: RenderOperation
    /// Publishes the results. Nil if another barrier follows, because jobs publish only after the last barrier.
    package let publish: PublishOperation?
    package let announce: AnnounceOperation?
    package var life = JobLife.working(.queued)
    /// Why the ledger refused the publish intent.
    package var refusal: JobFailure?
    /// Number of segments into which barriers divide the job.
    package private(set) lazy var segments = max(record.segment + 1, record.plan.segments.count)

    package init(
        _ record: JobRecord, _ meters: Meters, _ download: DownloadOperation?, _ render: RenderOperation,
        publish: PublishOperation?, announce: AnnounceOperation?
    ) {
        (self.record, self.meters) = (record, meters)
        (lane, entry) = (record.lane, record.entry)
        (self.download, self.render, self.publish, self.announce) = (download, render, publish, announce)
    }

    /// Whether the job counts against its lane's share of the window. A URL that another node downloads does not count.
    var countsInLane: Bool { entry == .render || download != nil }

    /// Cancels the job's operations, unless an operation has begun. Returns false if an operation has begun.
    package func withdraw() -> Bool {
        let first: AsyncOperation = download ?? render
        guard first.withdraw() else { return false }
        cancelOperations()
        return true
    }

    /// The place of the job's operations in the order of their queues.
    package var place: QueuePlace { QueuePlace(priority: record.priority, position: record.position) }

    /// The operations that work on the picture, the last operation first.
    package var operations: [AsyncOperation] { [publish, render, download].compactMap(\.self) }

    /// Cancels the operations, starting with the last. If an earlier operation were cancelled first, the operation that
    /// follows it might begin.
    func cancelOperations() {
        announce?.cancel()
        for operation in operations { operation.cancel() }
    }

    /// Whether all operations of the job have ended, and a finished download is recorded. The runner records a
    /// downloaded file one turn of the coordination queue after the download has finished. Without that record, the
    /// daemon could not dispose of the original.
    var isStill: Bool {
        operations.allSatisfy(\.state.isFinal) && !(record.needsDownload && download?.state == .finished)
    }

    /// Whether the job is queued or waiting, and none of its operations executes.
    var rests: Bool {
        [.queued, .waiting].contains(record.state) && !operations.contains { $0.state == .executing }
    }

    /// Whether the picture is rendered, and publishing has not begun.
    var waitsForPublish: Bool { render.state == .finished && publish?.hasBegun == false }

    package var story: JobStory { record.story ?? JobStory() }

    package func begin(_ kind: String) {
        var story = story
        story.begin(kind, segment: record.segment, attempt: record.tries + max(1, render.tries))
        record.story = story
    }

    /// Records the end of an operation in the story.
    package func end(
        _ kind: String, _ state: OperationState, _ detail: String? = nil, _ account: JobStory.Account? = nil,
        _ failure: FailureClass? = nil
    ) {
        record.story?.end(kind) { chapter in
            chapter.state = state.rawValue
            chapter.detail = detail
            chapter.failure = failure
            chapter.account = account
            meters.ended(chapter)
        }
    }

    package func end(_ kind: String, _ failure: JobFailure?, _ account: JobStory.Account? = nil) {
        end(kind, .failed, failure?.message, account, failure?.class)
    }

    /// Number of attempts since the job entered the window. A download and the render after it count as one attempt.
    package var tries: Int { max(render.tries, download.map { min(1, $0.tries) } ?? 0) }

    /// The record at this moment, with the accounts of the operations in progress.
    package var recordNow: JobRecord {
        var now = record
        if let download { now.story?.note("download", download.account) }
        now.story?.note("render", render.account)
        now.tries += tries
        return now
    }

    /// Records the picture's format and size, as read from its header.
    package func note(_ header: PictureHeader?) {
        guard let header else { return }
        var story = story
        story.header = header.words
        story.before = JobStory.Picture(
            format: header.format, width: header.width, height: header.height, pages: header.pages,
            bytes: render.image?.size ?? record.file.size)
        record.story = story
    }
}

extension PictureHeader {
    package var words: String {
        var parts = ["\(format) \(width) × \(height)", "\(bitsPerSample) bit"]
        parts.append(bands == 1 ? "grey" : "\(bands) bands")
        if orientation != 1 { parts.append("orientation \(orientation)") }
        if let profile { parts.append("profile \(profile)") }
        if progressive { parts.append("progressive") }
        if let gainMap { parts.append(gainMap) }
        if let others { parts.append(others) }
        return parts.joined(separator: ", ")
    }

    /// A phrase that says which pictures of a multi-picture file become results; nil for a file with one picture.
    private var others: String? {
        guard pages > 1 else { return nil }
        if !framesTaken.isEmpty, framesTaken.allSatisfy({ $0 == pages }) { return "all its \(pages) frames" }
        if framesTaken.contains(pages) { return "all its \(pages) frames, or the first" }
        return switch format {
        case "gif", "webp", "png": "the first of its \(pages) frames"
        case "heif", "avif": "the main one of its \(pages) pictures"
        default: "the first of its \(pages) pages"
        }
    }
}
