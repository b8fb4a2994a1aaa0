/// A mistake in a chain, with its place: `unknown stage 'niro' at column 24; did you mean 'noir'?`.
public struct ChainProblem: Error, Sendable, Hashable, CustomStringConvertible {
    private let complaint: String
    private let advice: String?
    /// Characters are counted from 1, in the chain's text; after `moved(to:)`, in the file's line.
    public let column: Int

    init(_ complaint: String, column: Int, advice: String? = nil) {
        (self.complaint, self.column, self.advice) = (complaint, column, advice)
    }

    /// The whole sentence, column included.
    public var message: String {
        "\(complaint) at column \(column)" + (advice.map { "; \($0)" } ?? "")
    }

    public var description: String { message }

    /// The same problem, seen in a text that contains the chain.
    public func moved(to column: Int) -> ChainProblem {
        ChainProblem(complaint, column: column, advice: advice)
    }
}
