import Foundation
import PipelineModel
import WorkerProtocol

/// A message between a node and an origin: the length of the JSON, the JSON, then raw bytes.
struct FramedMessage<Words: Codable> {
    var words: Words
    var bytes: [UInt8]

    init(_ words: Words, _ bytes: [UInt8] = []) { (self.words, self.bytes) = (words, bytes) }

    /// Returns nil for a malformed message, which a stranger may have sent.
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

/// A node's request to an origin. The verb is part of the message's subject.
enum Verb: String {
    case read
    case write
    case progress
    case done
    case failed
    /// The node gives the picture back, but has found no fault in the picture. The origin does not answer.
    case leave
}

struct Asked: Codable, Sendable {
    var run: String
    var id: Int
    /// The attempt's random token. The origin accepts requests from the current attempt only.
    var attempt: String
    /// For `read` and `write`: the index of the source or output.
    var index: Int?
    /// For `read` and `write`: the offset in the file of the source or output.
    var offset: Int64?
    /// For `progress`: the pixels read so far. `total` is the number of pixels to read.
    var done: Int64?
    var total: Int64?
    var result: LentResult?
    var failure: WorkerFailure?
    /// For `leave`: why the node gives the picture back.
    var leaving: TakeAnswer.Word?
    /// For `leave`: the node's explanation if it refuses the picture.
    var reason: String?

    init(_ key: LentKey, attempt: String) { (run, id, self.attempt) = (key.run, key.id, attempt) }
}

struct LentResult: Codable, Sendable {
    var header: PictureHeader
    var outputs: [RenderedOutput]
    var digests: [FileDigest]
    /// The file that the node has downloaded, if the origin lent it a URL instead of bytes.
    var downloaded: FetchedFile?
}

struct Answered: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// The origin is checking the results.
        case busy
        /// The origin no longer lends this picture, or lends it to another attempt.
        case notWanted
        /// The request failed, but a retry may succeed.
        case again
    }

    var word: Word
    var reason: String?

    init(_ word: Word, _ reason: String? = nil) { (self.word, self.reason) = (word, reason) }
}

/// A request to a node to take a picture. The origin sends the offer once; a node that does not answer in time does not
/// get the picture.
struct Offer: Codable, Sendable {
    var run: String
    var attempt: String
    var picture: LentPicture
}

struct TakeAnswer: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// The node has no free place. It will tell the origin when it has a free place.
        case full
        /// The node can't take this picture, for example because it lacks a filter.
        case refused
    }

    var word: Word
}

/// A node's description of itself. Each process has a random token, so two processes that use the same node name have
/// different tokens.
struct Presence: Codable, Sendable {
    var token: String
    var node: FleetNode
}
