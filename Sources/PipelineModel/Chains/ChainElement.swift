/// A stage as written, not yet checked.
struct ChainElement {
    struct Assignment {
        var name: String
        /// Nil if there is no `=`.
        var value: String?
        var column: Int
    }

    var name: String
    var column: Int
    var assignments: [Assignment] = []
}
