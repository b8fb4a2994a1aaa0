extension BuiltInStage {
    static let save = BuiltInStage(
        description: StageDescription(
            name: "save", summary: "writes the result; it is the last stage, and is added if it is missing",
            parameters: [
                ParameterDescription(
                    name: "format", type: .choice, defaultValue: "jpeg",
                    choices: ["jpeg", "png", "webp", "tiff", "avif", "gif", "jxl", "same"],
                    help: "file format of the result; same: the original's, but jpeg for a HEIC"),
                ParameterDescription(
                    name: "pages", type: .choice, choices: ["first", "all"],
                    help: "all: an animation stays animated, with the time of each frame; webp and gif; default: first"),
                ParameterDescription(
                    name: "quality", type: .integer, minimum: 1, maximum: 100,
                    help:
                        "higher is better and larger; default: jpeg 85, webp 80, avif 55, jxl 75; png and tiff lose nothing"
                ),
                ParameterDescription(
                    name: "max-bytes", type: .text,
                    help:
                        "the file's maximum size, as 300K: tries six qualities, at most quality= or else 95, "
                        + "and uses the best that fits; jpeg, webp, avif and jxl"),
                ParameterDescription(
                    name: "effort", type: .integer, minimum: 0, maximum: 9,
                    help:
                        "more takes longer, and makes the file smaller; default: png 6, webp 4 (of 6), avif 3, gif 6, "
                        + "jxl 5 (3 to 9)"),
                ParameterDescription(
                    name: "lossless", type: .boolean, help: "yes: no pixel changes; webp and jxl"),
                ParameterDescription(
                    name: "progressive", type: .boolean,
                    help: "yes: a browser shows the whole picture at once, coarse first; jpeg and png"),
                ParameterDescription(
                    name: "chroma", type: .choice, choices: ["auto", "420", "444"],
                    help: "how colours are stored: 420 has one for four pixels, 444 keeps edges between colours sharp; "
                        + "default: 420 below quality 90; jpeg and avif"),
                ParameterDescription(
                    name: "profile", type: .choice, choices: ["srgb", "keep"],
                    help:
                        "keep: a picture in another colour space, such as Display P3, keeps it and its profile, and the "
                        + "filters get its values unchanged; default: srgb"),
                ParameterDescription(
                    name: "hdr", type: .choice, defaultValue: "keep", choices: ["keep", "drop", "require"],
                    help:
                        "what becomes of the gain map that makes a phone's JPEG shine on an HDR screen: keep where the "
                        + "chain and the format allow it, or drop; require refuses a picture that would lose it"),
                ParameterDescription(
                    name: "metadata", type: .choice, defaultValue: "keep",
                    choices: ["keep", "keep-without-place", "strip", "copyright"],
                    help:
                        "what happens to EXIF, XMP and IPTC; keep-without-place: keeps all but the location and the "
                        + "camera maker's notes; copyright: keeps only author, copyright, credits and IPTC's digital source "
                        + "type"),
                ParameterDescription(
                    name: "artist", type: .text, help: "the author, for pictures without one"),
                ParameterDescription(
                    name: "copyright", type: .text,
                    help:
                        "the copyright, likewise, as \"© {date:%Y} Ada Lovelace\": the day when it was taken, or else today"
                ),
                ParameterDescription(
                    name: "background", type: .colour, defaultValue: "#ffffff",
                    help: "the colour behind transparent parts, if the format has no transparency"),
            ]),
        violation: violation(ofSave:))

    /// The formats that support each parameter. Other parameters work with all formats.
    private static let ofFormats: KeyValuePairs = [
        "quality": ["jpeg", "webp", "avif", "jxl"], "max-bytes": ["jpeg", "webp", "avif", "jxl"],
        "effort": ["png", "webp", "avif", "gif", "jxl"],
        "lossless": ["webp", "jxl"], "progressive": ["jpeg", "png"], "chroma": ["jpeg", "avif"],
    ]

    /// Parameters that a chain may give with `format=same`. They take effect only if the original's format supports
    /// them.
    private static let whereTheyApply = ["quality", "effort", "progressive", "chroma"]

    private static func violation(ofSave stage: Stage) -> Violation? {
        let format = stage.arguments["format"]?.text ?? "jpeg"
        func given(_ name: String) -> Bool { stage.arguments[name].map { $0.number != 0 || name == "effort" } ?? false }
        for (name, formats) in ofFormats where given(name) && !formats.contains(format) {
            if format == "same", whereTheyApply.contains(name) { continue }
            let losesNothing = format == "png" || format == "tiff"
            let isLoss = ["quality", "max-bytes", "lossless"].contains(name)
            let why =
                format == "same"
                ? ", and not every format supports it"
                : isLoss && losesNothing ? ", which is lossless" : ", which does not support it"
            return Violation(
                parameter: name, complaint: "'\(name)' with format=\(format)\(why)",
                advice: "leave it out, or choose \(formats.alternatives)")
        }
        if given("lossless"), let other = ["quality", "max-bytes"].first(where: given) {
            return Violation(parameter: other, complaint: "'\(other)' beside 'lossless'", advice: "keep one of them")
        }
        if ["webp", "same"].contains(format), let effort = stage.arguments["effort"]?.number, effort > 6 {
            return Violation(
                parameter: "effort", complaint: "effort=\(Int(effort)) is too much for webp", advice: "it may be 0 to 6"
            )
        }
        if format == "jxl", let effort = stage.arguments["effort"]?.number, effort < 3 {
            return Violation(
                parameter: "effort", complaint: "effort=\(Int(effort)) is too little for jxl",
                advice: "it may be 3 to 9")
        }
        if stage.arguments["hdr"]?.text == "require", !["jpeg", "same"].contains(format) {
            return Violation(
                parameter: "hdr", complaint: "'hdr=require' with format=\(format), which can't hold a gain map",
                advice: "choose jpeg, or hdr=keep")
        }
        if let text = stage.arguments["max-bytes"]?.text, stage.maxBytes == nil {
            return Violation(
                parameter: "max-bytes", complaint: "max-bytes=\(text) is not a file size",
                advice: "write it like 300K or 2M, at least 1K")
        }
        if stage.arguments["pages"]?.text == "all", !(Stage.ofFrames + ["same"]).contains(format) {
            return Violation(
                parameter: "pages", complaint: "'pages=all' with format=\(format), which holds only one picture",
                advice: "leave it out, or choose \((Stage.ofFrames + ["same"]).alternatives)")
        }
        for name in ["artist", "copyright"] {
            guard let text = stage.arguments[name]?.text else { continue }
            do throws(Refusal) {
                _ = try CreditText(text)
            } catch {
                return Violation(
                    parameter: name, complaint: "\(name)=\(text) \(error.complaint)", advice: error.advice ?? "")
            }
            if stage.arguments["metadata"]?.text == "strip" {
                return Violation(
                    parameter: name, complaint: "'\(name)' with metadata=strip, which removes it",
                    advice: "use metadata=copyright, or leave \(name) out")
            }
            if format == "gif" {
                return Violation(
                    parameter: name, complaint: "'\(name)' with format=gif, which does not support it",
                    advice: "leave it out, or choose another format")
            }
        }
        if stage.arguments["profile"]?.text == "keep", stage.arguments["metadata"]?.text == "strip" {
            return Violation(
                parameter: "profile", complaint: "'profile=keep' with metadata=strip, which removes the profile",
                advice: "use metadata=copyright, or leave profile out")
        }
        if stage.arguments["profile"]?.text == "keep", format == "gif" {
            return Violation(
                parameter: "profile", complaint: "'profile=keep' with format=gif, which does not support it",
                advice: "leave it out, or choose another format")
        }
        return nil
    }
}

extension Stage {
    /// The format of a result; nil for any stage other than `save`.
    public var format: String? { name == BuiltInStage.save.description.name ? arguments["format"]?.text : nil }

    /// Whether the worker needs the JPEG XL module, which it loads only on demand.
    public var writesJXL: Bool { format == "jxl" }

    /// Formats that can hold an animation.
    fileprivate static let ofFrames = ["webp", "gif"]

    /// Whether the file that this stage writes keeps all frames of an animation. The file is a result, or the
    /// intermediate picture at a barrier. Callers must have replaced `format=same` by the actual format.
    public var keepsFrames: Bool {
        let isHandOver = arguments["compression"] != nil
        return arguments["pages"]?.text == "all"
            && (isHandOver || Self.ofFrames.contains(arguments["format"]?.text ?? "jpeg"))
    }

    /// The maximum size of the result's file in bytes, from `max-bytes`, if given.
    public var maxBytes: Int? {
        arguments["max-bytes"]?.text.flatMap(Magnitude.bytes.number).flatMap { $0 >= 1024 ? Int(exactly: $0) : nil }
    }
}
