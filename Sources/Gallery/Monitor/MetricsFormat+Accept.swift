import PipelineControl

/// Chooses the format of the metrics by the request's Accept header (RFC 9110, 12.5.1).
extension MetricsFormat {
    var type: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Returns OpenMetrics if the client names it in Accept and doesn't prefer plain text.
    static func wanted(by accept: [String]) -> MetricsFormat {
        let ranges = accept.joined(separator: ",").split(separator: ",").map(MediaRange.init)
        func quality(_ names: String...) -> Double? {
            names.lazy.compactMap { name in ranges.filter { $0.name == name }.map(\.quality).max() }.first
        }
        guard let open = quality("application/openmetrics-text"), open > 0 else { return .prometheus }
        return open >= quality("text/plain", "text/*", "*/*") ?? 0 ? .openMetrics : .prometheus
    }
}

/// A media type in Accept, with its quality.
private struct MediaRange {
    let name: String
    let quality: Double

    init(_ text: Substring) {
        let parts = text.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        name = parts.first ?? ""
        quality = parts.first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
    }
}
