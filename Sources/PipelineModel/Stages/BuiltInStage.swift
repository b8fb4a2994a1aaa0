/// A stage that needs no plugin. Adding one: a file beside this one and a word in `all`.
struct BuiltInStage: Sendable {
    static let all = [resize, tee, barrier, save]

    let description: StageDescription
    /// The parameter that may be written without its name: `tee preview`.
    var positional: String?
    /// What is wrong with arguments that are each right by themselves.
    var violation: @Sendable (Stage) -> Violation? = { _ in nil }

    struct Violation {
        /// The argument to point at; the stage itself when nil.
        var parameter: String?
        var complaint: String
        var advice: String
    }
}
