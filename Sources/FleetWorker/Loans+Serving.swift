import Foundation
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Answers other nodes' requests about lent pictures, in the order of arrival.
extension Loans {
    func serve(on line: Line) throws {
        try line.listen(to: Subject.origin(name, "*", by: "*")) { [weak self, weak line] message in
            guard let self, let line else { return }
            serve(message, line)
        }
    }

    private func serve(_ message: LineMessage, _ line: Line) {
        let words = message.subject.split(separator: ".").map(String.init)
        guard words.count == 4, let verb = Verb(rawValue: words[2]), NodeName.isOne(words[3]),
            let framed = message.withBytes(FramedMessage<Asked>.init)
        else { return answer(message, line, Answered(.notWanted, "it can't be understood")) }
        let (asked, node) = (framed.words, words[3])
        guard asked.run == run, let lent = lent(asked.id) else {
            // The request is meant for another process with this node's name; that process will answer it.
            if asked.run != run, hasTwin { return }
            return answer(message, line, Answered(.notWanted))
        }
        do {
            switch verb {
            case .read:
                guard has(lent, asked, node) else { return answer(message, line, Answered(.notWanted)) }
                let piece = try lent.read(asked.index ?? -1, at: asked.offset ?? -1)
                answer(message, line, Answered(.yes), piece.bytes)
                if piece.isLast { fetched(lent, by: asked.attempt) }
            case .write:
                let isWritten = try lent.write(
                    framed.bytes, asked.index ?? -1, at: asked.offset ?? -1, asked.attempt, by: node)
                answer(message, line, Answered(isWritten ? .yes : .notWanted))
            case .progress: answer(message, line, progress(lent, asked, node))
            case .done: done(lent, asked, node, message, line)
            case .failed: answer(message, line, failed(lent, asked, node))
            case .leave: leave(lent, asked, node)
            }
        } catch let refusal as Loan.Refusal {
            answer(message, line, Answered(.again, refusal.reason))
        } catch {
            supervisor.say("\(lent.picture.name): \(error)")
            answer(message, line, Answered(.again, "the origin has trouble with its disk"))
        }
    }

    private func has(_ lent: Loan, _ asked: Asked, _ node: String, then: () -> Void = {}) -> Bool {
        lent.has(asked.attempt, by: node, begins: { begun(lent, by: $0) }, then: then)
    }

    private func progress(_ lent: Loan, _ asked: Asked, _ node: String) -> Answered {
        let has = has(lent, asked, node) {
            guard let done = asked.done, let total = asked.total, total > 0, (0...total).contains(done) else { return }
            supervisor.send(.progress(lent.key.id, done: done, total: total))
        }
        return Answered(has ? .yes : .notWanted)
    }

    private func failed(_ lent: Loan, _ asked: Asked, _ node: String) -> Answered {
        guard has(lent, asked, node) else { return Answered(.notWanted) }
        let failure = asked.failure ?? WorkerFailure(stage: "fleet", message: "it does not say why", class: .crash)
        end(lent, .failed(lent.key.id, MessageCheck.printable(failure, by: node)))
        return Answered(.yes)
    }

    private func leave(_ lent: Loan, _ asked: Asked, _ node: String) {
        guard lent.leave(asked.attempt, by: node) else { return }
        if asked.leaving == .refused {
            refused(lent, by: node, because: .refused(asked.reason.map(MessageCheck.printable)))
        }
        left(lent, by: node, hasPlace: asked.leaving != .full)
    }

    private func done(_ lent: Loan, _ asked: Asked, _ node: String, _ message: LineMessage, _ line: Line) {
        guard has(lent, asked, node) else { return answer(message, line, Answered(.notWanted)) }
        guard let result = asked.result, MessageCheck.accepts(result, of: lent.picture) else {
            return answer(message, line, Answered(.again, "the results do not fit the picture's chain"))
        }
        guard lent.beginsEnd(asked.attempt, by: node) else { return answer(message, line, Answered(.busy)) }
        looks.async { [self] in
            do {
                try lent.check(result.digests)
                let isFirst = end(lent, .made(lent.key.id, result.header, lent.outputs(of: result), result.downloaded))
                answer(message, line, Answered(isFirst ? .yes : .notWanted))
            } catch {
                lent.goesOn()
                answer(message, line, Answered(.again, (error as? Loan.Refusal)?.reason ?? "the origin can't read it"))
            }
        }
    }

    /// Sends an answer to the request's reply subject. Sends nothing if that subject is not an inbox, because a
    /// stranger may have chosen the subject.
    private func answer(_ message: LineMessage, _ line: Line, _ words: Answered, _ bytes: [UInt8] = []) {
        guard let reply = message.reply, reply.hasPrefix("_INBOX."),
            let packed = try? FramedMessage(words, bytes).packed
        else {
            return
        }
        try? line.publish(packed, to: reply)
    }
}
