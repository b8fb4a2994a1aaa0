import Foundation
import PipelineModel
import WorkerProtocol

/// A message between a node and an origin: words as JSON, then bytes. The length of the words comes before them.
struct FramedMessage<Words: Codable> {
    var words: Words
    var bytes: [UInt8]

    init(_ words: Words, _ bytes: [UInt8] = []) { (self.words, self.bytes) = (words, bytes) }

    /// Nil when a stranger has sent something else.
    init?(_ message: UnsafeRawBufferPointer) {
        guard message.count >= 4 else { return nil }
        let length = message.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= parcelWords, length <= message.count - 4,
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

/// The most bytes of a parcel's words.
private let parcelWords = WorkerChannel.longestMessage

/// What a node may ask an origin. The verb is a word of the subject.
enum Verb: String {
    case read
    case write
    case progress
    case done
    case failed
    /// The attempt is over, and says nothing of the picture. No answer comes.
    case leave
}

struct Asked: Codable, Sendable {
    var run: String
    var id: Int
    /// A random word: only the attempt that has the picture may write.
    var attempt: String
    /// The source that is read, or the output that is written, and the place in it.
    var index: Int?
    var offset: Int64?
    /// The pixels that have been read, and that are to be read.
    var done: Int64?
    var total: Int64?
    var result: LentResult?
    var failure: WorkerFailure?
    /// Why it leaves, and the words of a refusal.
    var leaving: TakeAnswer.Word?
    var reason: String?

    init(_ key: LentKey, attempt: String) { (run, id, self.attempt) = (key.run, key.id, attempt) }
}

struct LentResult: Codable, Sendable {
    var header: PictureHeader
    var outputs: [RenderedOutput]
    var digests: [FileDigest]
    /// What the node has downloaded, if the picture had a URL.
    var downloaded: FetchedFile?
}

struct Answered: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// The results are being looked at.
        case busy
        /// The picture is not lent any more, or not to this attempt.
        case notWanted
        /// Something has gone wrong that another try may mend.
        case again
    }

    var word: Word
    var reason: String?

    init(_ word: Word, _ reason: String? = nil) { (self.word, self.reason) = (word, reason) }
}

/// An origin asks a node to take a picture. It comes once: a node that does not answer in time does not get it.
struct Offer: Codable, Sendable {
    var run: String
    var attempt: String
    var picture: LentPicture
}

struct TakeAnswer: Codable, Sendable {
    enum Word: String, Codable, Sendable {
        case yes
        /// There is no free place. The node says when there is one.
        case full
        /// It does not take this picture, as it lacks a filter, or some memory.
        case refused
    }

    var word: Word
}

/// What a node says of itself. The token tells two nodes of the same name apart.
struct Presence: Codable, Sendable {
    var token: String
    var node: FleetNode
}
