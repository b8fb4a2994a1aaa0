import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Figures for monitors")
struct MetricsTests {
    private static let files = [
        "etc/pipelined.conf": "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n",
        "etc/recipes.d/shop.recipe": "[Recipe]\nInbox=shop\n[Output]\nChain=save\n",
    ]

    private static func value(
        _ name: String, _ labels: [String: String] = [:], in metrics: [Control.Metric]
    ) -> Double? {
        metrics.first { $0.name == "pipelined_\(name)" }?.samples.first { $0.labels == labels }?.value
    }

    @Test(
        "What has ended is counted by recipe and result, what failed by its class, and both are there before the first")
    func counters() async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            let before = try daemon.call(Call.Metrics()).metrics
            let (failed, broken) = (["recipe": "shop", "result": "failed"], ["operation": "render", "class": "input"])
            #expect(Self.value("jobs_ended", failed, in: before) == 0)
            #expect(Self.value("operation_failures", broken, in: before) == 0)

            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/shop")
            try daemon.drop(Data("no picture".utf8), as: "b.png", inbox: "inbox/shop")
            try await daemon.waitForAll()
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(Picture.small, as: "c.png", inbox: "inbox/shop")
            _ = try await daemon.job("c.png", becomes: "queued")
            _ = try daemon.call(Call.CancelAll())
            let after = try daemon.call(Call.Metrics()).metrics
            #expect(Self.value("jobs_ended", ["recipe": "shop", "result": "done"], in: after) == 1)
            #expect(Self.value("jobs_ended", failed, in: after) == 1)
            #expect(Self.value("operation_failures", broken, in: after) == 1)
            let cancelled = after.first { $0.name == "pipelined_jobs_ended" }?.samples
                .filter { $0.labels["result"] == "cancelled" }.map(\.value).reduce(0, +)
            #expect(cancelled == 1)
            #expect(Self.value("queue_paused", ["queue": "render"], in: after) == 1)
            #expect(Self.value("jobs", ["state": "done"], in: after) == 1)
            let read = try #require(Self.value("read_bytes", ["operation": "render"], in: after))
            #expect(read >= Double(Picture.small.count))
            for name in ["operation_duration_seconds", "job_duration_seconds"] {
                let samples = try #require(after.first { $0.name == "pipelined_\(name)" }).samples
                for sample in samples {
                    #expect(sample.buckets.map(\.count) == sample.buckets.map(\.count).sorted())
                    #expect(try #require(sample.count) >= sample.buckets.last?.count ?? .max)
                }
            }
            #expect(after.first { $0.name == "pipelined_job_duration_seconds" }?.samples.first?.count == 1)
            let labels = Set(after.flatMap(\.samples).flatMap(\.labels.values))
            #expect(labels.allSatisfy { !$0.contains("/") && !$0.contains(".png") }, "\(labels)")
        }
    }

    @Test("A parser that is not ours reads both texts, and finds the same figures in them")
    func foreignParser() async throws {
        let python = try #require(
            ProcessInfo.processInfo.environment["PIPELINED_FOREIGN_CLIENT"],
            "./run test installs the foreign parser and names it here")
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/shop")
            try await daemon.waitForAll()
            for (option, module) in [(nil, "parser"), ("--openmetrics", "openmetrics.parser")] {
                let text = try await Programs.run(
                    "pipectl", ["--root", daemon.root.path, "metrics"] + [option].compactMap(\.self))
                #expect(text.status == 0, "\(text.errors)")
                let file = daemon.path("metrics.txt")
                try text.output.write(toFile: file, atomically: true, encoding: .utf8)
                let read = try await Programs.run(
                    path: python,
                    [
                        "-c",
                        """
                        import sys
                        from prometheus_client.\(module) import text_string_to_metric_families
                        for family in text_string_to_metric_families(open(sys.argv[1]).read()):
                            for sample in family.samples:
                                print(sample.name, family.type, *sorted(sample.labels.items()), float(sample.value))
                        """, file,
                    ])
                #expect(read.status == 0, "\(read.errors)")
                let ended = "pipelined_jobs_ended_total counter ('recipe', 'shop') ('result', 'done') 1.0"
                #expect(read.lines.contains(ended), "\(read.output)")
                #expect(read.lines.contains("pipelined_job_duration_seconds_bucket histogram ('le', '+Inf') 1.0"))
            }
        }
    }

    @Test(
        "promtool finds no fault in the text and in the alerts, and each alert fires when it should and stays quiet else"
    )
    func promtool() async throws {
        let tool = try #require(
            ProcessInfo.processInfo.environment["PIPELINED_PROMTOOL"], "./run test gets promtool and names it here")
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../packaging/monitoring").standardizedFileURL.path
        for words in [["check", "rules", "pipelined.rules.yml"], ["test", "rules", "pipelined.test.yml"]] {
            let outcome = try await Programs.run(
                path: "/usr/bin/env", ["-C", folder, tool] + words)
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/shop")
            try await daemon.waitForAll()
            let command = #""$1" --root "$2" metrics | "$3" check metrics"#
            let pipectl = Programs.path("pipectl")
            let outcome = try await Programs.run(
                path: "/bin/sh", ["-c", command, "sh", pipectl, daemon.root.path, tool])
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.output)\(outcome.errors)")
        }
    }
}
