import DaemonRuntime
import PipelineModel
import WorkerProtocol

/// What happened to a job, for `pipectl show`. It is written with every change of the job, so it is kept small.
struct JobStory: Codable, Sendable, Hashable {
    /// An operation that has begun, of one of the tries.
    struct Chapter: Codable, Sendable, Hashable {
        var kind: String
        var queue: String
        /// How many barriers are before it, if any.
        var segment: Int?
        var state: String
        var started: Double?
        var finished: Double?
        var detail: String?
        /// Which try of the job it belongs to; nil is the first.
        var attempt: Int?
        var account: Account?
        var failure: FailureClass?
    }

    /// Who did the work of an operation, and how much it was.
    struct Account: Codable, Sendable, Hashable {
        /// The process.
        var worker: Int?
        /// Bytes.
        var read: Int?
        var written: Int?
    }

    /// A picture's kind and size, before or after.
    struct Picture: Codable, Sendable, Hashable {
        var format: String
        var width: Int
        var height: Int
        var bytes: Int
    }

    var header: String?
    var before: Picture?
    var after: [Picture] = []
    /// Where it failed.
    var stage: String?
    var chapters: [Chapter] = []
}

extension JobStory {
    /// Beyond this many the oldest chapters go.
    static let mostChapters = 24

    mutating func begin(_ kind: String, _ queue: String, segment: Int, attempt: Int) {
        chapters.append(
            Chapter(
                kind: kind, queue: queue, segment: segment > 0 ? segment : nil, state: "executing",
                started: Timestamp.now(), attempt: attempt > 1 ? attempt : nil))
        if chapters.count > Self.mostChapters { chapters.removeFirst(chapters.count - Self.mostChapters) }
    }

    /// Ends the chapter that was begun last. There is none when the operation never began.
    mutating func end(_ kind: String, _ write: (inout Chapter) -> Void) {
        guard let index = chapters.lastIndex(where: { $0.kind == kind && $0.state == "executing" }) else { return }
        chapters[index].finished = Timestamp.now()
        write(&chapters[index])
    }

    /// Who is at work.
    mutating func tell(_ kind: String, _ account: Account) {
        guard let index = chapters.lastIndex(where: { $0.kind == kind && $0.state == "executing" }) else { return }
        chapters[index].account = account
    }

    /// The daemon has ended in the middle; when that was is not known.
    mutating func interrupt() {
        for index in chapters.indices where chapters[index].state == "executing" {
            chapters[index].state = "failed"
            chapters[index].detail = "the daemon ended in the middle of it"
        }
    }
}
