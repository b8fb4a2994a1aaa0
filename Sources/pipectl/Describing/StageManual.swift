import PipelineControl

/// A stage's manual, generated from its own description.
struct StageManual {
    let stage: Control.Stage
    let width: Int?

    var lines: [Text] {
        var lines: [Text] = ["\(stage.name, .strong): \(stage.summary)"]
        let version = stage.version.map { ", version \($0)" } ?? ""
        let author = stage.author.map { ", by \($0)" } ?? ""
        lines.append(Text((stage.file.map { "from \($0)" } ?? "built in") + version + author, .faint))
        if let reason = stage.reason { lines.append("\(stage.state, .bad): \(reason)") }
        if !stage.traits.isEmpty { lines.append(Text("traits: \(stage.traits.joined(separator: ", "))", .faint)) }
        let words = stage.parameters.map { $0.required ? "\($0.name)=…" : "[\($0.name)=…]" }
        lines += ["", "in a chain: \(([stage.name] + words).joined(separator: " "))"]
        let (least, most) = (stage.atLeastOneOf.joined(separator: ", "), stage.atMostOneOf.joined(separator: ", "))
        if !least.isEmpty { lines.append(Text("at least one of: \(least)")) }
        if !most.isEmpty { lines.append(Text("at most one of: \(most)")) }
        guard !stage.parameters.isEmpty else { return lines }
        var table = Table([
            .init(title: "PARAMETER"), .init(title: "VALUE", fit: .words), .init(title: "DEFAULT"),
            .init(title: "", fit: .words),
        ])
        for parameter in stage.parameters {
            table.add(
                Text(parameter.name, .strong), Text(values(of: parameter)),
                Text(parameter.default ?? (parameter.required ? "required" : "")),
                Text(parameter.help))
        }
        return lines + [""] + table.lines(width: width)
    }

    private func values(of parameter: Control.Parameter) -> String {
        if !parameter.choices.isEmpty { return parameter.choices.joined(separator: "|") }
        let range: String? =
            switch (parameter.minimum.map(Amount.plain), parameter.maximum.map(Amount.plain)) {
            case (let least?, let most?): "\(least) to \(most)"
            case (let least?, nil): "from \(least)"
            case (nil, let most?): "up to \(most)"
            case (nil, nil): nil
            }
        return [parameter.type, range, parameter.unit].compactMap(\.self).joined(separator: " ")
    }
}
