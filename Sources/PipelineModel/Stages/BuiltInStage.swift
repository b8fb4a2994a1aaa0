/// A stage that needs no plugin. Adding one: a file beside this one and a word in `all`.
struct BuiltInStage: Sendable {
    static let all = [resize, save]

    let description: StageDescription
    /// What is wrong with arguments that are each right by themselves.
    let violation: @Sendable (Stage) -> Violation?

    struct Violation {
        /// The argument to point at; the stage itself when nil.
        var parameter: String?
        var complaint: String
        var advice: String
    }
}
