import Foundation
import PipelineModel
import WorkerProtocol

/// A message between a node and an origin: the length of the JSON, the JSON, then raw bytes.
struct FramedMessage<Words: Codable> {
    var words: Words
    var bytes: [UInt8]

    init(_ words: Words, _ bytes: [UInt8] = []) { (self.words, self.bytes) = (words, bytes) }

    /// Nil if the message is malformed: a stranger may have sent it.
    init?(_ message: UnsafeRawBufferPointer) {
        guard message.count >= 4 else { return nil }
        let length = message.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= longestWords, length <= message.count - 4,
            let words = try? JSONDecoder().decode(Words.self, from: Data(message[4..<4 + length]))
        else { return nil }
        self.init(words, Array(message[(4 + length)...]))
    }

    var packed: [UInt8] {
        get throws {
            let text = try JSONEncoder().encode(words)
            return withUnsafeBytes(of: UInt32(text.count).bigEndian, Array.init) + text + bytes
        }
    }
}

/// Maximum bytes of a message's JSON.
private let longestWords = WorkerChannel.longestMessage

/// A node's requests to an origin. The verb is a word of the subject.
enum Verb: String {
    case read
    case write
    case progress
    case done
    case failed
    /// The attempt is over, without a verdict on the picture. The origin does not answer.
    case leave
}

struct Asked: Codable, Sendable {
    var run: String
    var id: Int
    /// A random word: only the current attempt may write.
    var attempt: String
    /// The index of the source to read or of the output to write, and the offset in it.
    var index: Int?
    var offset: Int64?
    /// Pixels read so far, and in total.
    var done: Int64?
    var total: Int64?
    var result: LentResult?
    var failure: WorkerFailure?
    /// Why the attempt ends, and the text of a refusal.
    var leaving: TakeAnswer.Word?
    var reason: String?

    init(_ key: LentKey, attempt: String) { (run, id, self.attempt) = (key.run, key.id, attempt) }
}

struct LentResult: Codable, Sendable {
    var header: PictureHeader
    var outputs: [RenderedOutput]
    var digests: [FileDigest]
    /// The file that the node has downloaded, if the picture came as a URL.
    var downloaded: FetchedFile?
}

struct Answered: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// The origin is checking the results.
        case busy
        /// The picture is no longer lent, or not to this attempt.
        case notWanted
        /// Something went wrong that a retry may solve.
        case again
    }

    var word: Word
    var reason: String?

    init(_ word: Word, _ reason: String? = nil) { (self.word, self.reason) = (word, reason) }
}

/// Asks a node to take a picture. It is sent once: a node that does not answer in time does not get the picture.
struct Offer: Codable, Sendable {
    var run: String
    var attempt: String
    var picture: LentPicture
}

struct TakeAnswer: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// No place is free. The node says when it has a free place.
        case full
        /// The node can't take this picture, for example because it lacks a filter.
        case refused
    }

    var word: Word
}

/// A node's description of itself. The token tells two processes of the same name apart.
struct Presence: Codable, Sendable {
    var token: String
    var node: FleetNode
}
