import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Metrics")
struct MetricsTests {
    private static let files = [
        "etc/pipelined.conf": "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n",
        "etc/recipes.d/shop.recipe": "[Recipe]\nInbox=shop\n[Output]\nChain=save\n",
    ]

    private static let monitoring = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../packaging/monitoring").standardizedFileURL

    /// Returns the path of a program from the Prometheus distribution.
    private static func prometheus(_ program: String) throws -> String {
        let folder = try #require(
            ProcessInfo.processInfo.environment["PIPELINED_PROMETHEUS"],
            "./run test gets Prometheus and names its folder")
        return "\(folder)/\(program)"
    }

    private static func value(
        _ name: String, _ labels: [String: String] = [:], in metrics: [Control.Metric]
    ) -> Double? {
        metrics.first { $0.name == "pipelined_\(name)" }?.samples.first { $0.labels == labels }?.value
    }

    @Test(
        "Ended jobs are counted by recipe and result, and failures by class, from zero on")
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

    @Test("A third-party parser reads both formats, and finds the same numbers in them")
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
        "promtool accepts the metrics and alerts, and each alert fires when it should and only then"
    )
    func promtool() async throws {
        let tool = try Self.prometheus("promtool")
        let folder = Self.monitoring.path
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

    private struct Dashboard: Decodable {
        struct Panel: Decodable { var targets: [Query] }
        struct Query: Decodable { var expr: String }
        struct Annotations: Decodable { var list: [Query] }

        var panels: [Panel]
        var annotations: Annotations
    }

    private struct Found: Decodable {
        struct Body: Decodable { var result: [Sample] }
        struct Sample: Decodable { var metric: [String: String] }

        var status: String
        var error: String?
        var data: Body?
    }

    @Test("Prometheus scrapes the gallery's port, and each query of the dashboard returns data")
    func dashboard() async throws {
        let file = Self.monitoring.appendingPathComponent("pipelined.dashboard.json")
        let board = try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: file))
        #expect(board.panels.count >= 15)
        try await DaemonFixture.with(Self.files) { daemon in
            try daemon.drop(Picture.small, as: "a.png", inbox: "inbox/shop")
            try await daemon.waitForAll()
            let gallery = try await GalleryProcess(of: daemon, ["--metrics-listen", "127.0.0.1:0"])
            let port = try #require(gallery.port)
            try daemon.write(
                "scrape_configs:\n- job_name: pipelined\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n"
                    + "  static_configs: [{targets: ['\(port)']}]\n", to: "prometheus.yml")
            let address = try Self.freeAddress()
            let server = try ChildProcess(
                Self.prometheus("prometheus"),
                [
                    "--config.file=\(daemon.path("prometheus.yml"))", "--storage.tsdb.path=\(daemon.path("tsdb"))",
                    "--web.listen-address=\(address)",
                ])
            defer { server.signal(SIGKILL) }
            func ask(_ query: String) async throws -> Found? {
                try #require(server.status == nil, "\(server.errors)")
                let words = [
                    "-s", "--noproxy", "*", "-G", "http://\(address)/api/v1/query", "--data-urlencode",
                    "query=\(query)",
                ]
                let answer = try await Programs.run(path: "/usr/bin/curl", words)
                return answer.status == 0 ? try? JSONDecoder().decode(Found.self, from: Data(answer.output.utf8)) : nil
            }
            // A rate needs two scrapes, so wait for the second.
            while try await ask("rate(pipelined_jobs_ended_total[5m])")?.data?.result.isEmpty != false {}
            for query in board.panels.flatMap(\.targets).map(\.expr) {
                let asked = Self.filled(query)
                print("looking for \(asked)")
                var found: Found?
                // A busy machine may miss a scrape. The query then returns nothing until the next scrape.
                repeat {
                    found = try await ask(asked)
                    try #require(found?.error == nil, "\(asked): \(found?.error ?? "")")
                } while found?.data?.result.isEmpty != false
            }
            for query in board.annotations.list.map(\.expr) {
                #expect(try await ask(Self.filled(query))?.status == "success", "\(query)")
            }
        }
    }

    /// Returns the query with its variables replaced, as Grafana sends it for all machines.
    private static func filled(_ query: String) -> String {
        query.replacingOccurrences(of: "$instance", with: ".*").replacingOccurrences(of: "$__rate_interval", with: "5m")
    }

    private static func freeAddress() throws -> InternetAddress {
        let listener = try #require(InternetAddress("127.0.0.1:0")).listen()
        return try #require(InternetAddress(of: listener))
    }
}
