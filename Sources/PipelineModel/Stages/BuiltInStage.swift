/// A stage that needs no plugin. A new stage takes a file beside this one and a word in `all`.
struct BuiltInStage: Sendable {
    static let all = [resize, tee, barrier, save]

    let description: StageDescription
    /// The parameter that may be written without its name: `tee preview`.
    var positional: String?
    /// Checks arguments that are valid by themselves against each other.
    var violation: @Sendable (Stage) -> Violation? = { _ in nil }

    struct Violation {
        /// Nil for the stage itself.
        var parameter: String?
        var complaint: String
        var advice: String
    }
}
