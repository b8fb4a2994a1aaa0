import Testing

/// A function that reads untrusted bytes, to be fuzzed.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    let name: String
    /// Words of the input format, which the fuzzer inserts into its inputs.
    let words: [String]
    private let body: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, words: [String] = [], _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.name, self.words, self.body) = (name, words, body)
    }

    /// Returns a target whose input is text.
    static func text(
        _ name: String, words: [String] = [], _ body: @escaping @Sendable (String) throws -> Void
    ) -> FuzzTarget {
        FuzzTarget(name, words: words) { try body(String(decoding: $0, as: UTF8.self)) }
    }

    /// Runs the reader, which may reject the bytes. A crash is a fault, and so is a violated promise about the result.
    func read(_ bytes: [UInt8]) { try? body(bytes) }

    var testDescription: String { name }

    static let all: [FuzzTarget] = [control, configuration, network, pictures, metadata, workers, fleet].flatMap { $0 }
}
