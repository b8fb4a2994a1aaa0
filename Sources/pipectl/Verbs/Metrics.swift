import PipelineControl

extension Option {
    fileprivate static let openMetrics = Option("--openmetrics", "the text of OpenMetrics, not that of Prometheus")
}

extension Verb {
    static let metrics = Verb(
        name: "metrics",
        summary: "figures for a monitor, as Prometheus reads them",
        usage: "[--openmetrics]",
        discussion: [
            "Counters and histograms begin at the daemon's start. Labels hold names of recipes, queues, operations and",
            "the like, never a path or an ID. Node exporter's textfile collector takes the output as a file; write it",
            "under another name, and rename it.",
        ],
        options: [.openMetrics],
        examples: [
            Example("pipectl metrics | grep jobs_ended", "what has ended, by recipe and result"),
            Example("pipectl metrics | sponge pipelined.prom", "for the textfile collector, from a timer"),
            Example("pipectl metrics --json", "the same as JSON, a metric a line"),
        ],
        run: { context in
            let metrics = try context.call(Call.Metrics()).metrics
            if context.json {
                for metric in metrics { try context.output.object(metric) }
                return .done
            }
            let format: MetricsFormat = context.invocation.has(.openMetrics) ? .openMetrics : .prometheus
            try context.output.lines(metrics.text(format).split(separator: "\n").map { Text(String($0)) })
            return .done
        })
}
