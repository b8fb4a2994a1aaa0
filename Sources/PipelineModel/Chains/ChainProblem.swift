/// A mistake in a chain, with its position: `unknown stage 'niro' at column 24; did you mean 'noir'?`.
public struct ChainProblem: Error, Sendable, Hashable, CustomStringConvertible {
    private let complaint: String
    private let advice: String?
    /// Position in the chain's text, in characters, counted from 1. After `moved(to:)`, position in the line of the
    /// recipe file.
    public let column: Int

    init(_ complaint: String, column: Int, advice: String? = nil) {
        (self.complaint, self.column, self.advice) = (complaint, column, advice)
    }

    /// The complete sentence, including the column.
    public var message: String {
        "\(complaint) at column \(column)" + (advice.map { "; \($0)" } ?? "")
    }

    public var description: String { message }

    /// A copy of the problem with another column, for a text that contains the chain.
    public func moved(to column: Int) -> ChainProblem {
        ChainProblem(complaint, column: column, advice: advice)
    }
}
