import PipelineModel

extension StageCatalog {
    /// A worker's report about the noir plugin, reduced to the fields that chains need.
    static let withNoir = StageCatalog(filters: [noir])

    static let noir = StageDescription(
        name: "noir", summary: "black and white", version: "1.0.0", file: "noir.so",
        parameters: [
            ParameterDescription(
                name: "contrast", type: .number, minimum: 0, maximum: 4, defaultValue: "1.0", help: "steepness"),
            ParameterDescription(name: "grain", type: .boolean, defaultValue: "no", help: "film grain"),
            ParameterDescription(name: "tint", type: .colour, defaultValue: "#FFEEDD", help: "colour of the lights"),
            ParameterDescription(name: "caption", type: .text, help: "text below"),
        ],
        traits: [.lumaOnly, .pointwise])
}

/// Returns the error message for `chain`, or nil if the chain is valid.
func refusal(of chain: String, catalog: StageCatalog = .withNoir) -> String? {
    do throws(ChainProblem) {
        _ = try Chain(parsing: chain, catalog: catalog)
        return nil
    } catch {
        return error.message
    }
}
