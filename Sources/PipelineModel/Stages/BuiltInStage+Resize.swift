extension BuiltInStage {
    static let resize = BuiltInStage(
        description: StageDescription(
            name: "resize", summary: "makes the picture smaller or larger",
            parameters: [
                ParameterDescription(
                    name: "scale", type: .number, minimum: 0.001, maximum: 16,
                    help: "factor for both sides; 0.5 is half size, above 1 enlarges"),
                ParameterDescription(
                    name: "width", type: .integer, minimum: 1, maximum: 65535, unit: "px",
                    help: "width of the result; if given alone, the height follows"),
                ParameterDescription(
                    name: "height", type: .integer, minimum: 1, maximum: 65535, unit: "px",
                    help: "height of the result; if given alone, the width follows"),
                ParameterDescription(
                    name: "edge", type: .integer, minimum: 1, maximum: 65535, unit: "px",
                    help: "the longer side of the result, in portrait or landscape; never enlarges"),
                ParameterDescription(
                    name: "fit", type: .choice, defaultValue: "inside", choices: ["inside", "cover", "exact"],
                    help: "inside: whole picture within width and height, never enlarged (only scale enlarges); "
                        + "cover: fills both, and cuts off the rest; exact: both, without keeping the proportions"),
                ParameterDescription(
                    name: "kernel", type: .choice, defaultValue: "auto",
                    choices: ["auto", "nearest", "linear", "cubic", "mitchell", "lanczos2", "lanczos3"],
                    help: "how pixels are combined; auto: the fastest good one, shrinking while decoding"),
            ],
            traits: [.changesSize]),
        violation: { stage in
            let sides = ["width", "height"].filter { stage.arguments[$0] != nil }
            let whole = ["scale", "edge"].filter { stage.arguments[$0] != nil }
            let fit = stage.arguments["fit"]?.text ?? "inside"
            if let size = whole.first, let other = (whole.dropFirst() + sides).first {
                return Violation(
                    parameter: other, complaint: "'\(other)' beside '\(size)'",
                    advice: "give scale, or edge, or width and height")
            }
            if whole.isEmpty, sides.isEmpty {
                return Violation(
                    complaint: "'resize' without a size",
                    advice: "give scale=0.5, edge=2000 for the longer side, or width and/or height in pixels")
            }
            if fit != "inside", sides.count < 2 {
                return Violation(
                    parameter: "fit", complaint: "fit=\(fit) without width and height",
                    advice: "give both, or use fit=inside")
            }
            return nil
        })
}
