/// Text formats of metrics for monitoring systems.
package enum MetricsFormat: Sendable {
    /// Prometheus' text format, version 0.0.4.
    case prometheus
    /// OpenMetrics, version 1.0.0.
    case openMetrics
}

extension [Control.Metric] {
    package func text(_ format: MetricsFormat) -> String {
        var lines = flatMap { $0.lines(format) }
        if format == .openMetrics { lines.append("# EOF") }
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Control.Metric {
    private var isCounter: Bool { kind == "counter" }

    fileprivate func lines(_ format: MetricsFormat) -> [String] {
        // In OpenMetrics, the samples of a counter have the suffix `_total`, but the name of their family does not.
        let family = isCounter && format == .prometheus ? "\(name)_total" : name
        var lines = ["# TYPE \(family) \(kind)"]
        if format == .openMetrics, let unit = Self.units.first(where: { name.hasSuffix("_\($0)") }) {
            lines.append("# UNIT \(family) \(unit)")
        }
        // Only OpenMetrics escapes quotation marks in the help.
        lines.append("# HELP \(family) \(format == .openMetrics ? Self.quotable(help) : Self.line(help))")
        for sample in samples { lines += isHistogram ? histogram(sample) : [single(sample)] }
        return lines
    }

    private static let units = ["seconds", "bytes", "ratio"]
    private var isHistogram: Bool { kind == "histogram" }

    private func single(_ sample: Control.Sample) -> String {
        "\(name)\(isCounter ? "_total" : "")\(Self.text(sample.labels)) \(Self.text(sample.value))"
    }

    private func histogram(_ sample: Control.Sample) -> [String] {
        let count = sample.count ?? 0
        func bucket(_ most: String, _ count: Int) -> String {
            "\(name)_bucket\(Self.text(sample.labels, and: ("le", most))) \(count)"
        }
        return sample.buckets.map { bucket(Self.text($0.most), $0.count) } + [
            bucket("+Inf", count), "\(name)_sum\(Self.text(sample.labels)) \(Self.text(sample.value))",
            "\(name)_count\(Self.text(sample.labels)) \(count)",
        ]
    }

    private static func text(_ labels: [String: String], and last: (name: String, value: String)? = nil) -> String {
        let all =
            labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } + (last.map { [($0.name, $0.value)] } ?? [])
        guard !all.isEmpty else { return "" }
        return "{" + all.map { "\($0)=\"\(quotable($1))\"" }.joined(separator: ",") + "}"
    }

    /// Writes whole numbers in full, without a point.
    private static func text(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 9e15 ? "\(Int(value))" : "\(value)"
    }

    private static func line(_ text: String) -> String {
        text.map { $0 == "\\" ? "\\\\" : $0 == "\n" ? "\\n" : String($0) }.joined()
    }

    private static func quotable(_ text: String) -> String {
        line(text).map { $0 == "\"" ? "\\\"" : String($0) }.joined()
    }
}
