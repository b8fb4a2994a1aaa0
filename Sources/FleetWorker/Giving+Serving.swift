import Foundation
import PipelineModel
import SystemCalls
import WorkerProtocol

/// What the nodes ask of the origin, each request in the order in which it comes.
extension Giving {
    func serve(on line: Line) throws {
        try line.listen(to: Subject.origin(name, "*")) { [weak self, weak line] message in
            guard let self, let line else { return }
            serve(message, line)
        }
    }

    private func serve(_ message: LineMessage, _ line: Line) {
        let parcel = message.withBytes(Parcel<Asked>.init)
        guard let parcel, let verb = Verb(rawValue: Subject.last(of: message.subject)),
            NodeName.isOne(parcel.words.node), Token.isOne(parcel.words.attempt)
        else { return answer(message, line, Answered(.notWanted, "it can't be understood")) }
        let asked = parcel.words
        guard asked.run == run, let lent = lent(asked.id) else {
            // The other one of this name answers.
            if asked.run != run, hasTwin { return }
            return answer(message, line, Answered(.notWanted))
        }
        do {
            switch verb {
            case .begin: answer(message, line, try begin(lent, asked))
            case .read: try read(lent, asked, message, line)
            case .write:
                let isWritten = try lent.write(parcel.bytes, asked.index ?? -1, at: asked.offset ?? -1, asked.attempt)
                answer(message, line, Answered(isWritten ? .yes : .notWanted))
            case .progress: answer(message, line, progress(lent, asked))
            case .done: done(lent, asked, message, line)
            case .failed: answer(message, line, failed(lent, asked))
            case .leave: if lent.leave(asked.attempt) { supervisor.send(.begun(lent.key.id, node: nil)) }
            }
        } catch let refusal as Lent.Refusal {
            answer(message, line, Answered(.again, refusal.reason))
        } catch {
            supervisor.say("\(lent.picture.name): \(error)")
            answer(message, line, Answered(.again, "the origin has trouble with its disk"))
        }
    }

    private func begin(_ lent: Lent, _ asked: Asked) throws -> Answered {
        let begun = try lent.begin(asked.node, asked.attempt, patience: patience) {
            supervisor.send(.begun(lent.key.id, node: asked.node))
        }
        switch begun {
        case .yes: return Answered(.yes)
        case .busy: return Answered(.busy)
        case .dangerous(let nodes):
            end(lent, .failed(lent.key.id, Self.dangerous(nodes)))
            return Answered(.notWanted)
        }
    }

    private static func dangerous(_ nodes: [String]) -> WorkerFailure {
        WorkerFailure(
            stage: "fleet",
            message: "\(nodes.count) nodes have begun it, and none came to an end: \(nodes.joined(separator: ", "))",
            advice: "look into the logs of these nodes", class: .crash)
    }

    private func read(_ lent: Lent, _ asked: Asked, _ message: LineMessage, _ line: Line) throws {
        guard lent.has(asked.attempt) else { return answer(message, line, Answered(.notWanted)) }
        answer(message, line, Answered(.yes), try lent.read(asked.index ?? -1, at: asked.offset ?? -1))
    }

    private func progress(_ lent: Lent, _ asked: Asked) -> Answered {
        let has = lent.has(asked.attempt) {
            guard let done = asked.done, let total = asked.total, total > 0, (0...total).contains(done) else { return }
            supervisor.send(.progress(lent.key.id, done: done, total: total))
        }
        return Answered(has ? .yes : .notWanted)
    }

    private func failed(_ lent: Lent, _ asked: Asked) -> Answered {
        guard lent.has(asked.attempt) else { return Answered(.notWanted) }
        let failure = asked.failure ?? WorkerFailure(stage: "fleet", message: "it does not say why", class: .crash)
        end(lent, .failed(lent.key.id, Stranger.told(failure, by: asked.node)))
        return Answered(.yes)
    }

    private func done(_ lent: Lent, _ asked: Asked, _ message: LineMessage, _ line: Line) {
        guard lent.has(asked.attempt) else { return answer(message, line, Answered(.notWanted)) }
        guard let result = asked.result, Stranger.accepts(result, of: lent.picture) else {
            return answer(message, line, Answered(.again, "the results are not what was asked for"))
        }
        guard lent.beginsEnd(asked.attempt) else { return answer(message, line, Answered(.busy)) }
        looks.async { [self] in
            do {
                try lent.check(result.digests)
                let isFirst = end(lent, .made(lent.key.id, result.header, lent.outputs(of: result), result.downloaded))
                answer(message, line, Answered(isFirst ? .yes : .notWanted))
            } catch {
                lent.goesOn()
                answer(message, line, Answered(.again, (error as? Lent.Refusal)?.reason ?? "the origin can't read it"))
            }
        }
    }

    /// An answer goes to a subject that waits for one, whatever a stranger names.
    private func answer(_ message: LineMessage, _ line: Line, _ words: Answered, _ bytes: [UInt8] = []) {
        guard let reply = message.reply, reply.hasPrefix("_INBOX."), let packed = try? Parcel(words, bytes).packed
        else {
            return
        }
        try? line.publish(packed, to: reply)
    }
}
