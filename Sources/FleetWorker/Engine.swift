import Foundation
import PipelineModel

/// The stream of lent pictures, over a line, by JetStream's own messages. It waits for the server: not for the
/// coordination queue.
struct Engine: Sendable {
    let line: Line

    private static let patience = Duration.seconds(5)

    func publish(_ job: LentJob, _ subject: String) throws {
        let answer = try line.request(
            Array(JSONEncoder().encode(job)), of: subject, within: Self.patience)
        let kept = answer.decoded(EngineAnswer.Kept.self)
        if let error = kept?.error { throw error }
        guard kept?.stream == Subject.stream else { throw EngineProblem("the stream does not say that it has kept it") }
    }

    /// Removes what the stream has of these subjects.
    func purge(_ filter: String) throws {
        _ = try ask(EngineAnswer.Plain.self, "STREAM.PURGE.\(Subject.stream)", EngineRequest.Purge(filter: filter))
    }

    /// The subjects of all that the stream keeps of an origin.
    func subjects(of origin: String) throws -> Set<String> {
        var all: Set<String> = []
        while true {
            let request = EngineRequest.Subjects(subjects_filter: Subject.jobs(of: origin), offset: all.count)
            let answer = try ask(EngineAnswer.Stream.self, "STREAM.INFO.\(Subject.stream)", request)
            let some = answer.state?.subjects ?? [:]
            let before = all.count
            all.formUnion(some.keys)
            guard all.count > before, all.count < answer.total ?? 0 else { return all }
        }
    }

    // MARK: - Taking

    /// Asks for one picture of a priority; the answer comes to the inbox.
    func pull(_ priority: Priority, to inbox: LineInbox) throws {
        try line.publish(
            Array(JSONEncoder().encode(EngineRequest.Next())),
            to: "$JS.API.CONSUMER.MSG.NEXT.\(Subject.stream).\(priority.rawValue)", reply: inbox.subject)
    }

    /// The picture has been dealt with. Waits until the server knows; when it does not, the picture is offered again.
    func acknowledge(_ reply: String) { _ = try? line.request(Array("+ACK".utf8), of: reply, within: .seconds(2)) }

    func extend(_ reply: String) { try? line.publish(Array("+WPI".utf8), to: reply) }

    /// Nobody can use it.
    func terminate(_ reply: String) { try? line.publish(Array("+TERM".utf8), to: reply) }

    /// Another node may have it, after a while.
    func returns(_ reply: String, after pause: Duration) {
        let nanoseconds = Int64(pause / .nanoseconds(1))
        try? line.publish(Array("-NAK {\"delay\": \(nanoseconds)}".utf8), to: reply)
    }

    // MARK: -

    func ask<Answer: EngineAnswering>(
        _ type: Answer.Type, _ api: String, _ request: some Encodable
    ) throws -> Answer {
        let message = try line.request(
            Array(JSONEncoder().encode(request)), of: "$JS.API.\(api)", within: Self.patience)
        guard let answer = message.decoded(type) else {
            throw EngineProblem("the server answers \(api) with something else than JSON")
        }
        if let error = answer.error { throw error }
        return answer
    }
}

/// A fault of the engine, in words for the person who runs it.
struct EngineProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
