/// A stage that needs no plugin. To add a built-in stage, write a file beside this one and list the stage in `all`.
struct BuiltInStage: Sendable {
    static let all = [resize, tee, barrier, save]

    let description: StageDescription
    /// The parameter whose name a chain may leave out, as in `tee preview` for `tee name=preview`.
    var positional: String?
    /// Checks for arguments that contradict each other. Each argument's own value has been checked before.
    var violation: @Sendable (Stage) -> Violation? = { _ in nil }

    struct Violation {
        /// The parameter at fault; nil if the whole stage is at fault.
        var parameter: String?
        var complaint: String
        var advice: String
    }
}
