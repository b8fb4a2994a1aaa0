import PipelineModel
import WorkerProtocol

/// A job within the window: its record, and its operations.
///
/// `@unchecked`: it lives on the supervisor's queue; others only carry it there.
final class Job: @unchecked Sendable {
    var record: JobRecord
    /// Of a URL that has not been downloaded yet.
    let download: DownloadOperation?
    let render: RenderOperation
    /// Behind the last barrier only.
    let publish: PublishOperation?
    let announce: AnnounceOperation?
    /// Somebody wants it to stop.
    var cancelRequested = false
    /// The daemon stops: what has not ended goes back to the queue.
    var returning = false
    /// What it waits for, once it has stopped.
    var waits: String?
    /// Why its intent could not be recorded.
    var refusal: JobFailure?
    /// The intent to publish is recorded, or on its way: it ends `done`.
    var publishing = false
    /// Its staging files are being removed.
    var discarding = false
    var ended = false

    init(
        record: JobRecord, download: DownloadOperation?, render: RenderOperation, publish: PublishOperation?,
        announce: AnnounceOperation?
    ) {
        self.record = record
        self.download = download
        self.render = render
        self.publish = publish
        self.announce = announce
    }

    /// Takes its operations back, unless it has begun; false then.
    func withdraw() -> Bool {
        let first: AsyncOperation = download ?? render
        guard first.withdraw() else { return false }
        cancelOperations()
        return true
    }

    /// Where its operations stand in their queues.
    var place: QueuePlace { QueuePlace(priority: record.priority, position: record.position) }

    /// From the tail, so that no dependent is set free by the cancelling of what it waits for.
    func cancelOperations() {
        announce?.cancel()
        publish?.cancel()
        render.cancel()
        download?.cancel()
    }

    /// None of its operations works any more, or will.
    var isStill: Bool {
        download?.state.isFinal != false && render.state.isFinal && publish?.state.isFinal != false
    }

    var story: JobStory { record.story ?? JobStory() }

    func begin(_ kind: String, _ queue: String) {
        var story = story
        let segment = record.segment
        story.chapters.removeAll { $0.kind == kind && ($0.segment ?? 0) == segment }
        story.chapters.append(
            .init(
                kind: kind, queue: queue, segment: segment == 0 ? nil : segment, state: "executing",
                started: Timestamp.now()))
        record.story = story
    }

    func end(_ kind: String, _ state: String, _ detail: String?) {
        var story = story
        guard let index = story.chapters.lastIndex(where: { $0.kind == kind }) else { return }
        story.chapters[index].state = state
        story.chapters[index].finished = Timestamp.now()
        story.chapters[index].detail = detail
        record.story = story
    }

    /// What the picture's header said.
    func tell(_ header: PictureHeader?) {
        guard let header else { return }
        var story = story
        story.header = Self.describe(header)
        story.before = JobStory.Picture(
            format: header.format, width: header.width, height: header.height, bytes: record.file.size)
        record.story = story
    }

    private static func describe(_ header: PictureHeader) -> String {
        var parts = ["\(header.format) \(header.width) × \(header.height)", "\(header.bitsPerSample) bit"]
        parts.append(header.bands == 1 ? "grey" : "\(header.bands) bands")
        if header.orientation != 1 { parts.append("orientation \(header.orientation)") }
        if let profile = header.profile { parts.append("profile \(profile)") }
        if header.progressive { parts.append("progressive") }
        if header.pages > 1 { parts.append("\(header.pages) pages") }
        return parts.joined(separator: ", ")
    }
}
