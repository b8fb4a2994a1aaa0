/// A stage as it was written, not yet checked.
struct ChainElement {
    struct Assignment {
        var name: String
        /// Nil without a `=`.
        var value: String?
        var column: Int
    }

    var name: String
    var column: Int
    var assignments: [Assignment] = []
}
