/// Processor time per picture, as bars. Its colours suit dark and light pages.
struct Chart {
    var results: [JobResult]

    private static let (width, label, bar, line) = (840, 210, 500, 18)
    private static let shown = ["noir-half", "fit-1600", "fit-640-noir", "progressive", "webp", "png"]

    var text: String {
        var (y, parts): (Int, [String]) = (10, [])
        for result in results where Self.shown.contains(result.job.name) {
            parts.append(panel(result, at: &y))
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(y)" font-family="sans-serif" font-size="12">
            <style>
            text { fill: #57606a }
            .title { font-weight: bold; font-size: 13px }
            .bar { fill: #8c959f }
            .ours { fill: #1f883d }
            @media (prefers-color-scheme: dark) { text { fill: #9198a1 } .bar { fill: #656c76 } .ours { fill: #3fb950 } }
            </style>
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }

    private func panel(_ result: JobResult, at y: inout Int) -> String {
        let bars = result.series.compactMap { series in series.figure(\.cpuEach).map { (series.name, $0.median) } }
            .sorted { $0.1 < $1.1 }
        let most = bars.map(\.1).max() ?? 1
        y += Self.line
        var lines = [#"<text class="title" x="0" y="\#(y)">\#(result.job.title): CPU ms a picture</text>"#]
        y += 8
        for (name, value) in bars {
            let length = max(1, Int(Double(Self.bar) * value / most))
            let kind = name == "pipelined" ? "bar ours" : "bar"
            lines += [
                #"<text x="\#(Self.label - 8)" y="\#(y + 12)" text-anchor="end">\#(name)</text>"#,
                #"<rect class="\#(kind)" x="\#(Self.label)" y="\#(y + 2)" width="\#(length)" height="12"/>"#,
                #"<text x="\#(Self.label + length + 6)" y="\#(y + 12)">\#(Text.short(value))</text>"#,
            ]
            y += Self.line
        }
        y += 12
        return lines.joined(separator: "\n")
    }
}
