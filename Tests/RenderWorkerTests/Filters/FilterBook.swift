import Foundation
import PipelineModel

/// Generates docs/filters.md: the descriptions of all filters, as the program reports them, in Markdown.
enum FilterBook {
    /// An example: the filter's stage, and the stages before it, which make a picture for which the filter is useful.
    struct Example {
        var stage: String
        var after: String?
    }

    private static let examples = [
        "autolevels": Example(stage: "autolevels", after: "fade"),
        "blur": Example(stage: "blur radius=2"),
        "border": Example(stage: "border colour=#3a2a20"),
        "crop": Example(stage: "crop ratio=1:1 position=attention"),
        "frame": Example(stage: "frame caption=\"Sunset at sea\" credit=\"© Ada Lovelace\""),
        "grain": Example(stage: "grain amount=0.06 size=0.6"),
        "lut": Example(stage: "lut file=dusk.cube"),
        "mono": Example(stage: "mono red=0 green=0.5 blue=0.5"),
        "rotate": Example(stage: "rotate angle=180"),
        "sharpen": Example(stage: "sharpen amount=2"),
        "straighten": Example(stage: "straighten angle=5"),
        "tilt-shift": Example(stage: "tilt-shift position=0.55 width=0.2 blur=2"),
        "tone": Example(stage: "tone exposure=0.7 shadows=0.6 highlights=-0.5 temperature=-0.4 vibrance=0.4"),
        "vignette": Example(stage: "vignette strength=0.6"),
        "watermark": Example(stage: "watermark text=\"© Ada Lovelace\" size=40"),
    ]

    /// The colour table for the example of `lut`. It makes shadows blue and highlights golden.
    static let cube: String = {
        let steps = (0..<9).map { Double($0) / 8 }
        func curve(_ x: Double) -> Double { x * x * (3 - 2 * x) }
        let lines = steps.flatMap { blue in
            steps.flatMap { green in
                steps.map { red -> String in
                    let light = 0.3 * red + 0.6 * green + 0.1 * blue
                    return [(red, 0.04, 1.02), (green, 0.1, 0.93), (blue, 0.22, 0.72)].map { band, black, white in
                        let colour = 0.4 * light + 0.6 * band
                        return String(format: "%.5f", black + (white - black) * curve(colour))
                    }.joined(separator: " ")
                }
            }
        }
        return "TITLE \"dusk\"\nLUT_3D_SIZE 9\n\(lines.joined(separator: "\n"))\n"
    }()

    static func example(_ filter: String) -> Example { examples[filter] ?? Example(stage: filter) }

    /// Returns the path, relative to docs/, of the picture that these stages make. If `stages` is nil, returns the path
    /// of the original picture.
    static func picture(_ stages: String?) -> String {
        "pictures/\(stages?.prefix { $0 != " " } ?? "before").webp"
    }

    static func text(_ filters: [StageDescription]) -> String {
        let list = filters.map { "[\($0.name)](#\($0.name))" }.joined(separator: " · ")
        return ([introduction, list] + filters.map(section)).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # The filters

        Written by `./run docs` from what the filters say of themselves; `pipectl plugins show NAME` says the same.

        A filter is a stage of a chain: `resize width=1600 | chrome | vignette strength=0.3 | save format=jpeg`. Several curves in a row cost as
        much as one. 16 bit stay 16 bit. A grey picture stays grey wherever the result is; sepia, duotone, instant, lut, and a coloured
        border, frame or mark make it a coloured one. Alpha stays as it is, but blur and tilt-shift blur it, too, with colours weighed by it, and
        straighten turns it; a border and a frame are opaque, and so is a watermark as far as it covers. Filters of the kind *whole picture* hold the
        picture in memory. Those that also *move pixels* do not if they come first, or right after the resize, and the picture is a JPEG
        or a WebP.
        """

    private static func section(_ filter: StageDescription) -> String {
        let example = example(filter.name)
        let traits = filter.traits.map(\.rawValue).sorted().joined(separator: ", ")
        let before = example.after.map { "`\($0)`" } ?? "before"
        return """
            ## \(filter.name)

            \(filter.summary.first?.uppercased() ?? "")\(filter.summary.dropFirst()).\(traits.isEmpty ? "" : " *\(traits)*")

            | \(before) | `\(example.stage)` |
            |---|---|
            | ![\(before)](\(picture(example.after))) | ![\(filter.name)](\(picture(filter.name))) |

            \(needs(filter))| parameter | may be | if left out | |
            |---|---|---|---|
            \(filter.parameters.map(row).joined(separator: "\n"))
            """
    }

    private static func needs(_ filter: StageDescription) -> String {
        let groups = [("at least", filter.atLeastOneOf), ("at most", filter.atMostOneOf)].filter { !$0.1.isEmpty }
        guard !groups.isEmpty else { return "" }
        let sentences = groups.map { amount, names in
            "\(amount) one of \(names.map { "`\($0)`" }.joined(separator: ", "))"
        }
        return "A chain gives \(sentences.joined(separator: ", and ")).\n\n"
    }

    private static func row(_ parameter: ParameterDescription) -> String {
        let left = parameter.defaultValue.map { $0.isEmpty ? "nothing" : "`\($0)`" } ?? "must be given"
        return "| `\(parameter.name)` | \(values(parameter)) | \(left) | \(parameter.help) |"
    }

    private static func values(_ parameter: ParameterDescription) -> String {
        let unit = parameter.unit.map { " \($0)" } ?? ""
        func plain(_ number: Double?) -> String { number.map { String(format: "%g", $0) } ?? "" }
        switch parameter.type {
        case .number, .integer: return "\(plain(parameter.minimum)) to \(plain(parameter.maximum))\(unit)"
        case .boolean: return "`yes`, `no`"
        case .choice: return parameter.choices.map { "`\($0)`" }.joined(separator: ", ")
        case .colour: return "a colour, `#rrggbb`"
        case .text: return "a text"
        case .file: return "a file, \(parameter.choices.map { "`\($0)`" }.joined(separator: ", "))"
        }
    }
}
