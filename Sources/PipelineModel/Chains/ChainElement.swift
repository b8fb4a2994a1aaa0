/// A stage as written in the chain, before any check against the catalog.
struct ChainElement {
    struct Assignment {
        var name: String
        /// Nil if the word contains no `=`.
        var value: String?
        var column: Int
    }

    var name: String
    var column: Int
    var assignments: [Assignment] = []
}
