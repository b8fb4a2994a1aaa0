import DaemonRuntime
package import PipelineModel

/// A job's history, for `pipectl show`. It is written with every change of the job, so it is kept small.
package struct JobStory: Codable, Sendable, Hashable {
    /// An operation that has begun, in one of the tries.
    package struct Chapter: Codable, Sendable, Hashable {
        package var kind: String
        package var queue: String
        /// How many barriers are before it, if any.
        package var segment: Int?
        package var state: String
        package var started: Double?
        package var finished: Double?
        package var detail: String?
        /// The try of the job that it belongs to; nil is the first.
        package var attempt: Int?
        package var account: Account?
        package var failure: FailureClass?
    }

    /// The process that did the work of an operation, and the bytes that it read and wrote.
    package struct Account: Codable, Sendable, Hashable {
        package var worker: Int?
        package var read: Int?
        package var written: Int?

        package init(worker: Int? = nil, read: Int? = nil, written: Int? = nil) {
            (self.worker, self.read, self.written) = (worker, read, written)
        }
    }

    /// A picture's kind and size, before or after.
    package struct Picture: Codable, Sendable, Hashable {
        package var format: String
        package var width: Int
        package var height: Int
        /// Frames, or pages. Nil in the ledger of a version that did not count them.
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
    /// The stage in which it failed.
    package var stage: String?
    package var chapters: [Chapter] = []

    package init() {}
}

extension JobStory {
    /// Beyond this many the oldest chapters go.
    private static let mostChapters = 24

    /// An operation is called like its queue.
    package mutating func begin(_ kind: String, segment: Int, attempt: Int) {
        chapters.append(
            Chapter(
                kind: kind, queue: kind, segment: segment > 0 ? segment : nil, state: "executing",
                started: Timestamp.now(), attempt: attempt > 1 ? attempt : nil))
        if chapters.count > Self.mostChapters { chapters.removeFirst(chapters.count - Self.mostChapters) }
    }

    /// Ends the chapter that was begun last. There is none when the operation never began.
    package mutating func end(_ kind: String, _ write: (inout Chapter) -> Void) {
        change(kind) {
            $0.finished = Timestamp.now()
            write(&$0)
        }
    }

    /// Notes the process at work.
    package mutating func note(_ kind: String, _ account: Account) { change(kind) { $0.account = account } }

    private mutating func change(_ kind: String, _ change: (inout Chapter) -> Void) {
        guard let index = chapters.lastIndex(where: { $0.kind == kind && $0.state == "executing" }) else { return }
        change(&chapters[index])
    }

    /// The daemon has ended in the middle, at an unknown time.
    package mutating func interrupt() {
        for index in chapters.indices where chapters[index].state == "executing" {
            chapters[index].state = "failed"
            chapters[index].detail = "the daemon ended in the middle of it"
        }
    }
}

extension JobStory.Chapter {
    /// Earlier versions called an operation by its type: `RenderOperation`.
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
