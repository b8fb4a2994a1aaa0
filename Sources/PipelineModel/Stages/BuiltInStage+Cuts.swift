/// The stages `tee`, which makes an additional result of the picture at this point of the chain, and `barrier`, which
/// waits for the other pictures of the batch.
extension BuiltInStage {
    static let tee = BuiltInStage(
        description: StageDescription(
            name: "tee", summary: "makes one more result of the picture at this point; `save` says how it is written",
            parameters: [
                ParameterDescription(
                    name: "name", type: .text, isRequired: true,
                    help: "part of that result's file name; `tee preview` is the short form")
            ]),
        positional: "name",
        violation: { stage in
            let name = stage.arguments["name"]?.text ?? ""
            if RecipeOutput.isName(name) { return nil }
            return Violation(
                parameter: "name", complaint: "'\(name)' can't be the name of a result",
                advice: "use letters, digits, - and _")
        })

    static let barrier = BuiltInStage(
        description: StageDescription(
            name: "barrier",
            summary: "waits until all pictures of the batch have arrived; a picture without a batch continues at once",
            parameters: []))
}
