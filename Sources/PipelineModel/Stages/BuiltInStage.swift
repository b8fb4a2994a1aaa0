/// A stage that needs no plugin. To add one, write a file beside this one and list it in `all`.
struct BuiltInStage: Sendable {
    static let all = [resize, tee, barrier, save]

    let description: StageDescription
    /// The parameter whose name may be left out: `tee preview`.
    var positional: String?
    /// Checks arguments against each other, after each has been checked by itself.
    var violation: @Sendable (Stage) -> Violation? = { _ in nil }

    struct Violation {
        /// Nil if the stage itself is at fault.
        var parameter: String?
        var complaint: String
        var advice: String
    }
}
