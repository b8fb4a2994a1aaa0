import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let openMetrics = Option("--openmetrics", "the format of OpenMetrics, not of Prometheus")
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
            Example("pipectl metrics | grep jobs_ended", "the ended jobs, by recipe and result"),
            Example("pipectl metrics | sponge pipelined.prom", "for the textfile collector, from a timer"),
            Example("pipectl metrics --json", "the same as JSON, one metric per line"),
        ],
        run: { context in
            let metrics = try context.call(Call.Metrics()).metrics
            if context.json {
                for metric in metrics { try context.output.object(metric) }
                return .done
            }
            let format: MetricsFormat = context.invocation.has(.openMetrics) ? .openMetrics : .prometheus
            // Programs read these lines, so they stay whole on a terminal, too.
            for line in metrics.text(format).split(separator: "\n") {
                try context.output.raw(String(line).printable + "\n")
            }
            return .done
        })
}
