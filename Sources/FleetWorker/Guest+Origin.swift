import Foundation
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Why this node gives up a picture that it has taken.
enum GuestEnd: Error {
    /// The origin no longer wants the picture.
    case notWanted
    /// The origin does not answer, or repeated requests have failed.
    case failed
}

/// Requests to the origin. This node repeats unanswered requests, so the origin may receive a request twice.
extension Guest {
    private static let mostTries = 3
    /// How long to wait for an answer. The time doubles after each unanswered request, up to `longestPatience`, because
    /// the connection may be slow. Large results don't need more time: the origin answers `busy` while it checks them.
    private static let patience = Duration.seconds(10)
    /// The limit of the growing timeout. A repeated request also tells the origin that this node is alive.
    private static let longestPatience = Duration.seconds(20)
    private static let pause = 0.25

    func sayProgress() throws {
        _ = try ask(.progress) { asked in (asked.done, asked.total) = (pixels?.done, pixels?.total) }
    }

    func leave(on line: Line, because word: TakeAnswer.Word?, _ reason: String?) {
        var asked = Asked(key, attempt: attempt)
        (asked.leaving, asked.reason) = (word, reason)
        guard let packed = try? FramedMessage(asked, []).packed else { return }
        try? line.publish(packed, to: subject(.leave))
    }

    private func subject(_ verb: Verb) -> String { Subject.origin(key.origin, verb.rawValue, by: membership.name) }

    func say(_ failure: WorkerFailure) throws { _ = try ask(.failed) { $0.failure = failure } }

    func read(_ index: Int, into file: Descriptor) throws {
        let size = picture.bytes.sizes[index]
        var offset: Int64 = 0
        while offset < size {
            let answer = try ask(.read) { ($0.index, $0.offset) = (index, offset) }
            // A short piece means that the origin's source file has shrunk, so a retry would fail too.
            guard answer.words.word == .yes, answer.bytes.count == min(Int64(Piece.most), size - offset) else {
                throw GuestEnd.failed
            }
            try file.put(answer.bytes, at: offset)
            offset += Int64(answer.bytes.count)
        }
    }

    func send(
        _ header: PictureHeader, _ outputs: [RenderedOutput], _ downloaded: FetchedFile?, _ files: [Descriptor]
    ) throws {
        for _ in 1...Self.mostTries {
            var digests: [FileDigest] = []
            for (index, file) in files.enumerated() { digests.append(try write(file, index)) }
            let result = LentResult(header: header, outputs: outputs, digests: digests, downloaded: downloaded)
            if try ask(.done, { $0.result = result }).words.word == .yes { return }
        }
        throw GuestEnd.failed
    }

    private func write(_ file: Descriptor, _ index: Int) throws -> FileDigest {
        var sent = RunningDigest()
        while true {
            let piece = try file.piece(at: sent.bytes, Piece.most)
            if piece.isEmpty { return sent.end() }
            let answer = try ask(.write, bytes: piece) { ($0.index, $0.offset) = (index, sent.bytes) }
            guard answer.words.word == .yes else { throw GuestEnd.failed }
            sent.add(piece)
        }
    }

    /// Waits for a connection, sends the request, and waits for an answer. Returns the answer `yes`. Repeats the
    /// request after the answer `busy`, and when no answer has come in time. Repeats the request after the answer
    /// `again`, too, unless the verb is `done` or `mostTries` answers have come; in these two cases, returns the answer
    /// `again`. Throws `GuestEnd` after the answer `notWanted`, when the attempt is over, and when the origin has been
    /// silent for too long.
    private func ask(
        _ verb: Verb, bytes: [UInt8] = [], _ fill: (inout Asked) -> Void = { _ in }
    ) throws -> FramedMessage<Answered> {
        var asked = Asked(key, attempt: attempt)
        fill(&asked)
        let packed = try FramedMessage(asked, bytes).packed
        var silence = Duration.zero
        var tries = 0
        var patience = Self.patience
        var question: Question?
        while let line = lines.wait(while: { !isOver }) {
            let start = ContinuousClock.now
            if question?.line !== line { question = try? Question(on: line) }
            let message = try? question?.ask(packed, of: subject(verb), within: patience)
            if let answer = message?.withBytes(FramedMessage<Answered>.init) {
                silence = .zero
                tries += 1
                switch answer.words.word {
                case .yes: return answer
                case .notWanted: throw GuestEnd.notWanted
                // The origin is checking the results.
                case .busy: break
                case .again where verb == .done || tries == Self.mostTries: return answer
                case .again: break
                }
            }
            Thread.sleep(forTimeInterval: Self.pause)
            // Time without a connection does not count as silence: while the server is down, the origin can't lend the
            // picture to another node either.
            if message == nil, !line.isClosed {
                silence += start.duration(to: .now)
                patience = min(patience * 2, Self.longestPatience)
            }
            if silence > .milliseconds(2 * membership.patienceMilliseconds) { break }
        }
        throw GuestEnd.failed
    }
}
