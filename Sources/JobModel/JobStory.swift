package import PipelineModel
import ServiceProgram

/// A job's history, as `pipectl show` prints it. Its size is limited, because the ledger rewrites it at every change of
/// the job.
package struct JobStory: Codable, Sendable, Hashable {
    /// An operation that an attempt of the job has started.
    package struct Chapter: Codable, Sendable, Hashable {
        package var kind: String
        package var queue: String
        /// Number of barriers before the operation; nil for 0.
        package var segment: Int?
        package var state: String
        package var started: Double?
        package var finished: Double?
        package var detail: String?
        /// Number of the attempt that started the operation; nil for the first attempt.
        package var attempt: Int?
        package var account: Account?
        package var failure: FailureClass?
    }

    /// The worker process of an operation, and the numbers of bytes that the operation read and wrote.
    package struct Account: Codable, Sendable, Hashable {
        package var worker: Int?
        package var read: Int?
        package var written: Int?

        package init(worker: Int? = nil, read: Int? = nil, written: Int? = nil) {
            (self.worker, self.read, self.written) = (worker, read, written)
        }
    }

    /// Format and size of a picture, before or after processing.
    package struct Picture: Codable, Sendable, Hashable {
        package var format: String
        package var width: Int
        package var height: Int
        /// Number of frames or pages. Nil in records of older versions.
        package var pages: Int?
        package var bytes: Int

        package init(format: String, width: Int, height: Int, pages: Int? = nil, bytes: Int) {
            (self.format, self.width, self.height, self.bytes) = (format, width, height, bytes)
            self.pages = pages
        }
    }

    package var header: String?
    package var before: Picture?
    package var after: [Picture] = []
    /// The stage that failed.
    package var stage: String?
    package var chapters: [Chapter] = []

    package init() {}
}

extension JobStory {
    /// Maximum number of chapters. Beyond this limit, the oldest chapters are dropped.
    private static let mostChapters = 24

    /// Starts a chapter. `kind` names the operation as well as its queue.
    package mutating func begin(_ kind: String, segment: Int, attempt: Int) {
        chapters.append(
            Chapter(
                kind: kind, queue: kind, segment: segment > 0 ? segment : nil, state: "executing",
                started: Timestamp.now(), attempt: attempt > 1 ? attempt : nil))
        if chapters.count > Self.mostChapters { chapters.removeFirst(chapters.count - Self.mostChapters) }
    }

    /// Finishes the latest running chapter of this kind. Does nothing if the operation never started.
    package mutating func end(_ kind: String, _ write: (inout Chapter) -> Void) {
        change(kind) {
            $0.finished = Timestamp.now()
            write(&$0)
        }
    }

    /// Records the account of the running operation of this kind.
    package mutating func note(_ kind: String, _ account: Account) { change(kind) { $0.account = account } }

    private mutating func change(_ kind: String, _ change: (inout Chapter) -> Void) {
        guard let index = chapters.lastIndex(where: { $0.kind == kind && $0.state == "executing" }) else { return }
        change(&chapters[index])
    }

    /// Marks as failed all operations that were running when the daemon stopped. Their end times are unknown.
    package mutating func interrupt() {
        for index in chapters.indices where chapters[index].state == "executing" {
            chapters[index].state = "failed"
            chapters[index].detail = "the daemon ended in the middle of it"
        }
    }
}

extension JobStory.Chapter {
    /// Also reads records of earlier versions, which named an operation by its type: `RenderOperation`.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        kind = try values.decode(String.self, forKey: .kind)
        if kind.hasSuffix("Operation") { kind = kind.dropLast("Operation".count).lowercased() }
        queue = try values.decode(String.self, forKey: .queue)
        segment = try values.decodeIfPresent(Int.self, forKey: .segment)
        state = try values.decode(String.self, forKey: .state)
        started = try values.decodeIfPresent(Double.self, forKey: .started)
        finished = try values.decodeIfPresent(Double.self, forKey: .finished)
        detail = try values.decodeIfPresent(String.self, forKey: .detail)
        attempt = try values.decodeIfPresent(Int.self, forKey: .attempt)
        account = try values.decodeIfPresent(JobStory.Account.self, forKey: .account)
        failure = try values.decodeIfPresent(FailureClass.self, forKey: .failure)
    }
}
