extension BuiltInStage {
    static let save = BuiltInStage(
        description: StageDescription(
            name: "save", summary: "writes the result; it is the last stage, and is added if it is missing",
            parameters: [
                ParameterDescription(
                    name: "format", type: .choice, defaultValue: "jpeg",
                    choices: ["jpeg", "png", "webp", "tiff", "avif"], help: "file format of the result"),
                ParameterDescription(
                    name: "quality", type: .integer, minimum: 1, maximum: 100,
                    help: "higher is better and larger; left out: jpeg 85, webp 80, avif 55; png and tiff lose nothing"),
                ParameterDescription(
                    name: "metadata", type: .choice, defaultValue: "keep", choices: ["keep", "strip", "copyright"],
                    help: "what becomes of EXIF, XMP and IPTC; copyright: keeps author and copyright alone"),
                ParameterDescription(
                    name: "background", type: .colour, defaultValue: "#ffffff",
                    help: "what shows through transparent parts where the format has no transparency"),
            ]),
        violation: { stage in
            let format = stage.arguments["format"]?.text ?? "jpeg"
            guard stage.arguments["quality"] != nil, format == "png" || format == "tiff" else { return nil }
            return Violation(
                parameter: "quality", complaint: "'quality' with format=\(format), which loses nothing",
                advice: "leave it out, or choose jpeg, webp or avif")
        })
}
