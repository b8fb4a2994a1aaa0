import Testing

/// A reader of untrusted bytes.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    let name: String
    /// Words of the reader's language, which a fuzzer puts into its inputs.
    let words: [String]
    private let body: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, words: [String] = [], _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.name, self.words, self.body) = (name, words, body)
    }

    /// A reader of text.
    static func text(
        _ name: String, words: [String] = [], _ body: @escaping @Sendable (String) throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name, words: words) { try body(String(decoding: $0, as: UTF8.self)) }
    }

    /// A reader may refuse the bytes. A crash is a fault, and so is a broken promise about the result.
    func read(_ bytes: [UInt8]) { try? body(bytes) }

    var testDescription: String { name }

    static let all: [FuzzTarget] = [control, configuration, network, pictures, metadata, workers, fleet].flatMap { $0 }
}
