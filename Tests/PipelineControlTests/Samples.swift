import PipelineControl

/// Sample values of each type of the interface, as a daemon would send them.
enum Sample {
    static func job(
        _ id: Int, _ state: String = "done", input: String = "harbour.jpg", reason: String? = nil, error: String? = nil
    ) -> Control.Job {
        let ended = ["done", "failed", "cancelled"].contains(state)
        return Control.Job(
            id: id, batch: nil, recipe: "noir", input: input, state: state, reason: reason,
            outputs: state == "done" ? ["/srv/outbox/noir/\(input)"] : [], error: error,
            created: "2026-03-01T09:30:00.250Z", finished: ended ? "2026-03-01T09:30:00.310Z" : nil,
            before: Control.Picture(format: "jpeg", width: 4000, height: 3000, bytes: 4_100_000, pages: 1),
            after: state == "done"
                ? [Control.Picture(format: "jpeg", width: 2000, height: 1500, bytes: 1_025_000, pages: 1)] : [],
            milliseconds: ended ? 35.2 : nil, setbacks: 0)
    }

    static func jobs(_ set: (inout Control.Jobs) -> Void = { _ in }) -> Control.Jobs {
        var jobs = Control.Jobs()
        set(&jobs)
        return jobs
    }

    static let answer = Control.NodeAnswer(
        node: "attic", answered: true,
        queues: [
            Control.NodeQueue(name: "render", effective: 2, running: 1, paused: true, reason: "the printer")
        ])

    static let checks = [
        Control.NodeCheck(node: "attic", outcome: "ok", accepted: 3.4, milliseconds: 48.6, lacks: ["noir"]),
        Control.NodeCheck(node: "cellar", outcome: "silent", problem: "it does not answer"),
    ]

    static let queues = [
        "render": Control.Queue(
            configured: nil, effective: 2, running: 1, waiting: 7, paused: true, reason: "the CPU is needed",
            automatic: 2),
        "publish": Control.Queue(configured: 4, effective: 4, running: 0, waiting: 0, paused: false, reason: nil),
    ]

    static let inbox = Control.Inbox(
        path: "/srv/inbox", recipe: "noir", watch: "inotify", settling: 2, ignored: 1, problem: nil)

    static func status(
        jobs: Control.Jobs = Control.Jobs(), queues: [String: Control.Queue] = Sample.queues,
        inboxes: [Control.Inbox] = [], cursor: Int = 0, problems: [String] = []
    ) -> Control.Overview {
        Control.Overview(
            version: "0.1.0", started: "2026-03-01T09:00:00.000Z", root: "/srv", stopping: false, jobs: jobs,
            waiting: [Control.Waiting(reason: "retry at 09:31:00: connection reset", jobs: 3)], queues: queues,
            inboxes: inboxes,
            ignored: [Control.Ignored(path: "notes.txt", reason: "no recipe takes it")],
            ignoredReasons: [Control.IgnoredReason(reason: "no recipe takes it", files: 1, example: "notes.txt")],
            workers: 2, cursor: cursor, problems: problems)
    }

    static let batch = Control.Batch(id: 3, name: "lucerne.urls", done: 19, failed: 1)

    static let progress = Control.Progress(
        unit: "bytes", done: 1_558_000, total: 4_100_000, fraction: 0.38, rate: 1_200_000, remaining: 2.1)

    static let nothing = Control.Progress(unit: "jobs", done: 0, total: 0)

    static func progress(running: Int, of total: Int) -> Call.Progress.Reply {
        Call.Progress.Reply(
            batches: [], others: Control.Progress(unit: "jobs", done: total - running, total: total, fraction: 0.5),
            jobs: (0..<running).map {
                Control.JobProgress(
                    job: job(total - $0, "running"), fraction: 0.4, operation: "download", progress: progress)
            }, unfinished: 0, running: running)
    }

    static func event(_ cursor: Int, _ job: Control.Job) -> Control.Event {
        Control.Event(cursor: cursor, time: "2026-03-01T09:30:01.250Z", kind: "job", job: job)
    }

    static let operation = Control.Operation(
        kind: "render", queue: "render", state: "finished", started: "2026-03-01T09:30:00.300Z",
        finished: "2026-03-01T09:30:00.335Z", detail: "jpeg, shrink 2", attempt: 1)

    static let story = Control.Story(
        job: job(12), chains: ["": "resize scale=0.5 | noir"], original: "/srv/archive/noir/harbour.jpg",
        tries: 2, started: "2026-03-01T09:30:00.300Z", header: "jpeg 4000 × 3000", operations: [operation],
        priority: "high", after: Control.Neighbours(jobs: [Control.Neighbour(id: 9, state: "done")], count: 1),
        followers: Control.Neighbours(jobs: [Control.Neighbour(id: 13, state: "waiting")], count: 101))

    static let explanation = Control.Explanation(
        recipe: "noir", why: "it is the default recipe", chains: ["": "resize scale=0.5 | noir"],
        operations: [Control.PlannedOperation(kind: "render", queue: "render", does: "resize, noir, save")],
        job: job(12, "waiting", reason: "settling"), picture: "jpeg 4000 × 3000, 8 bit, 3 bands",
        decode: [
            Control.Decoding(
                output: "thumb", path: "jpeg, 1/8 (resize makes 320 × 240)")
        ], problem: "it is cut")

    static let recipe = Control.Recipe(
        name: "noir", description: "Half size, black and white", file: nil, inbox: "/srv/inbox", outbox: "/srv/outbox",
        match: ["*.jpg", "*.png"], original: "archive", conflict: "number", onTruncated: "fail",
        priority: "normal", chains: ["": "resize scale=0.5 | noir"], problem: nil, hookFailures: 0,
        raw: "preview")

    static let proof = Control.Proof(
        recipe: "web", output: "small", chain: "noir", suffix: "jpg",
        picture: Control.Picture(format: "jpeg", width: 640, height: 480, bytes: 20_000), decode: "jpeg, whole",
        milliseconds: 12.5, problem: nil)

    static let parameter = Control.Parameter(
        name: "contrast", type: "number", minimum: 0, maximum: 1, default: "0.5", required: false, choices: [],
        unit: nil, help: "how steep the curve is")

    static let stage = Control.Stage(
        name: "noir", summary: "black and white", version: "1.0", author: "A. Dams", file: "/plugins/noir.so",
        state: "older", reason: "its file is for another version", traits: ["luma only"], parameters: [parameter])

    static let skipped = Control.SkippedPlugin(file: "/plugins/old.so", reason: "it has ABI version 0")

    static let setting = Control.Setting(
        section: "Queues", key: "Render", value: "3", default: "auto", source: "pipectl", help: "pictures at once")

    static let metrics = [
        Control.Metric(
            name: "pipelined_queue_limit", kind: "gauge", help: "How many \"run\" at once.",
            samples: [.init(labels: ["queue": "render"], value: 0.5, count: nil, buckets: [])]),
        Control.Metric(
            name: "pipelined_read_bytes", kind: "counter", help: "Bytes.",
            samples: [.init(labels: [:], value: 4_000_000_000, count: nil, buckets: [])]),
        Control.Metric(
            name: "pipelined_wait_seconds", kind: "histogram", help: "Waits.",
            samples: [
                .init(
                    labels: ["recipe": "a\"b\\c\nd"], value: 3.25, count: 3,
                    buckets: [.init(most: 0.5, count: 1), .init(most: 1, count: 2)])
            ]),
    ]

    static let problem = Control.Problem(file: "noir.recipe", line: 7, message: "unknown stage 'niro'")
}

extension Control.Batch {
    init(id: Int, name: String? = nil, queued: Int = 0, running: Int = 0, done: Int = 0, failed: Int = 0) {
        self.init(
            id: id, name: name, open: false, waiting: 0, queued: queued, running: running, cancelling: 0, done: done,
            failed: failed, cancelled: 0)
    }
}
