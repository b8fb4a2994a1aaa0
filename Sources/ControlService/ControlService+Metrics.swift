import DaemonInterface
import PipelineControl
import PipelineModel
import ServiceProgram

extension ControlService {
    func addMetricsCalls() {
        onOwners(Call.Metrics.self) { [self] _, request in
            let recipes = daemon.configurationInForce.recipes.map(\.name)
            daemon.measure { [self] measured in
                do {
                    let metrics = metrics(of: try measured.get(), recipes: recipes)
                    request.reply(Call.Metrics.Reply(metrics: metrics.all))
                } catch {
                    request.fail(ControlError.unread(error))
                }
            }
        }
    }

    private func metrics(of measured: Measurements, recipes: [String]) -> Metrics {
        let status = measured.status
        var metrics = Metrics()
        metrics.add(shown(status), started: status.started)
        metrics.add(measured.counters, recipes: recipes)
        metrics.counter("previews_made", "Previews that were made.", measured.previewsMade)
        metrics.add(hooks: measured.hooks)
        metrics.gauge("shortages", "Missing resources that jobs wait for.", measured.shortages)
        metrics.gauge("plugins_skipped", "Plugins that are left out.", daemon.skippedPlugins.count)
        metrics.gauge("workers", "Render workers.", status.workers)
        metrics.gauge(
            "memory_granted_bytes", "Memory granted to the pictures being rendered.", Int(measured.memory.granted))
        metrics.gauge(
            "memory_budget_bytes", "Memory that may be granted to all pictures together.", Int(measured.memory.budget))
        let free = status.disks.filter { $0.bytes > 0 }.map { Double($0.free) / Double($0.bytes) }.min()
        metrics.gauge("disk_free_ratio", "The free fraction of the fullest disk of originals or results.", free)
        let oldest = measured.oldestQueued.map { max(0, Timestamp.now() - $0) }
        metrics.gauge(
            "oldest_queued_seconds", "The age of the oldest queued job; 0 when none is queued.", oldest ?? 0)
        for kept in status.kept {
            metrics.gauge(
                "kept_bytes", "Size of the originals and results that are kept, by place.", kept.bytes,
                labels: ["place": kept.place.rawValue])
        }
        return metrics
    }
}

/// Collects the metrics of a reply, and keeps all samples of a metric together.
private struct Metrics: Sendable {
    private(set) var all: [Control.Metric] = []

    private mutating func add(_ name: String, _ kind: String, _ help: String, _ sample: Control.Sample) {
        let name = "pipelined_\(name)"
        if let index = all.firstIndex(where: { $0.name == name }) {
            all[index].samples.append(sample)
        } else {
            all.append(Control.Metric(name: name, kind: kind, help: help, samples: [sample]))
        }
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Double?, labels: [String: String] = [:]) {
        guard let value else { return }
        add(name, "gauge", help, Control.Sample(labels: labels, value: value, count: nil, buckets: []))
    }

    mutating func gauge(_ name: String, _ help: String, _ value: Int, labels: [String: String] = [:]) {
        gauge(name, help, Double(value), labels: labels)
    }

    mutating func counter(_ name: String, _ help: String, _ value: Int, labels: [String: String] = [:]) {
        let sample = Control.Sample(labels: labels, value: Double(value), count: nil, buckets: [])
        add(name, "counter", help, sample)
    }

    private mutating func histogram(
        _ name: String, _ help: String, _ values: Histogram, labels: [String: String] = [:]
    ) {
        let buckets = values.cumulative.map { Control.Bucket(most: $0.bound, count: $0.count) }
        let sample = Control.Sample(labels: labels, value: values.sum, count: values.count, buckets: buckets)
        add(name, "histogram", help, sample)
    }

    mutating func add(_ status: Control.Overview, started: Double) {
        gauge("build_info", "The version of the daemon.", 1, labels: ["version": status.version])
        gauge("start_time_seconds", "When the daemon started, in seconds since 1970.", started)
        let jobs = status.jobs
        let states = [
            ("waiting", jobs.waiting), ("queued", jobs.queued), ("running", jobs.running),
            ("cancelling", jobs.cancelling), ("done", jobs.done), ("failed", jobs.failed),
            ("cancelled", jobs.cancelled), ("ignored", jobs.ignored),
        ]
        for (state, count) in states {
            gauge("jobs", "Jobs on record, by state.", count, labels: ["state": state])
        }
        for (name, queue) in status.queues.sorted(by: { $0.key < $1.key }) {
            let labels = ["queue": name]
            gauge("queue_limit", "How many operations of a queue may run at once.", queue.effective, labels: labels)
            gauge("queue_running", "Operations of a queue that run.", queue.running, labels: labels)
            gauge("queue_waiting", "Operations of a queue that wait for their turn.", queue.waiting, labels: labels)
            gauge("queue_paused", "1 while a queue is paused.", queue.paused ? 1 : 0, labels: labels)
        }
        gauge(
            "problems", "Reasons that keep the daemon from its work, as `pipectl status` lists them.",
            status.problems.count)
        guard let fleet = status.fleet else { return }
        gauge("fleet_connected", "1 while the node is connected to a server.", fleet.server == nil ? 0 : 1)
        gauge("fleet_nodes", "Other nodes of the fleet that have reported recently.", fleet.nodes.count)
        gauge("fleet_places", "How many pictures of other nodes may be here at once.", fleet.places)
        gauge("fleet_taken", "Pictures of other nodes that are here.", fleet.taken)
        gauge("fleet_lent", "Pictures that are with other nodes, or offered to them.", fleet.lent)
    }

    mutating func add(_ counters: Counters, recipes: [String]) {
        // Counters start at 0: if a counter first appeared with its first event, a monitor would not see it grow.
        let ends = recipes.flatMap { recipe in
            JobState.allCases.filter(\.isFinal).map { (Counters.End(recipe: recipe, result: $0), 0) }
        }
        let failures = Counters.kinds.flatMap { operation in
            FailureClass.allCases.map { (Counters.Failure(operation: operation, kind: $0), 0) }
        }
        for (end, count) in counters.ends.merging(ends, uniquingKeysWith: { known, _ in known }).sorted(by: {
            $0.key < $1.key
        }) {
            var labels = ["result": end.result.rawValue]
            labels["recipe"] = end.recipe
            counter(
                "jobs_ended", "Jobs that have ended. Jobs that were ended in bulk have no recipe label.", count,
                labels: labels)
        }
        for (failure, count) in counters.failures.merging(failures, uniquingKeysWith: { known, _ in known }).sorted(
            by: {
                $0.key < $1.key
            })
        {
            counter(
                "operation_failures", "Operations that have failed, by the class of the failure.", count,
                labels: ["operation": failure.operation, "class": failure.kind.rawValue])
        }
        for (kind, operations) in counters.operations.sorted(by: { $0.key < $1.key }) {
            let labels = ["operation": kind]
            histogram("operation_duration_seconds", "How long operations took.", operations.durations, labels: labels)
            counter("read_bytes", "Bytes that operations have read.", operations.read, labels: labels)
            counter("written_bytes", "Bytes that operations have written.", operations.written, labels: labels)
        }
        histogram(
            "job_duration_seconds", "Time from the claim of a file to the publication of its results.", counters.jobs)
    }

    mutating func add(hooks: [String: HookReport]) {
        for (recipe, report) in hooks.sorted(by: { $0.key < $1.key }) {
            let labels = ["recipe": recipe]
            counter("hook_runs", "Runs of a recipe's hook that have ended.", report.runs, labels: labels)
            counter(
                "hook_failures", "Runs of a recipe's hook that have failed, counted across restarts.", report.failures,
                labels: labels)
        }
    }
}
