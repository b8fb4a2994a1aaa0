/// The types of the interface, as `ControlInterface.description` declares them.
public enum Control {}

extension Control {
    public struct Jobs: Codable, Sendable, Hashable {
        public var waiting = 0
        public var queued = 0
        public var running = 0
        public var cancelling = 0
        public var done = 0
        public var failed = 0
        public var cancelled = 0
        public var ignored = 0

        public init() {}
    }

    public struct Queue: Codable, Sendable, Hashable {
        @Nullable public var configured: Int?
        public var effective: Int
        public var running: Int
        public var waiting: Int
        public var paused: Bool
        @Nullable public var reason: String?
        /// The number that `auto` means here.
        @Nullable public var automatic: Int?

        public init(
            configured: Int?, effective: Int, running: Int, waiting: Int, paused: Bool, reason: String?,
            automatic: Int? = nil
        ) {
            self.automatic = automatic
            self.effective = effective
            self.running = running
            self.waiting = waiting
            self.paused = paused
            self.configured = configured
            self.reason = reason
        }
    }

    public struct Inbox: Codable, Sendable, Hashable {
        public var path: String
        public var recipe: String
        public var watch: String
        public var settling: Int
        public var ignored: Int
        @Nullable public var problem: String?

        public init(path: String, recipe: String, watch: String, settling: Int, ignored: Int, problem: String?) {
            self.path = path
            self.recipe = recipe
            self.watch = watch
            self.settling = settling
            self.ignored = ignored
            self.problem = problem
        }
    }

    /// Why jobs wait, and how many for the same reason.
    public struct Waiting: Codable, Sendable, Hashable {
        public var reason: String
        public var jobs: Int

        public init(reason: String, jobs: Int) {
            self.reason = reason
            self.jobs = jobs
        }
    }

    public struct Ignored: Codable, Sendable, Hashable {
        public var path: String
        public var reason: String

        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }
    }

    public struct Overview: Codable, Sendable, Hashable {
        public var version: String
        public var started: String
        @Nullable public var root: String?
        public var stopping: Bool
        public var jobs: Jobs
        /// The most frequent reasons first; `jobs.waiting` counts all.
        public var waiting: [Waiting]
        public var queues: [String: Queue]
        public var inboxes: [Inbox]
        /// The latest few; `jobs.ignored` counts all.
        public var ignored: [Ignored]
        public var workers: Int
        public var cursor: Int
        /// What keeps the daemon from its work, in words.
        public var problems: [String]

        public init(
            version: String, started: String, root: String?, stopping: Bool, jobs: Jobs,
            waiting: [Waiting] = [], queues: [String: Queue], inboxes: [Inbox], ignored: [Ignored], workers: Int,
            cursor: Int, problems: [String]
        ) {
            self.version = version
            self.started = started
            self.stopping = stopping
            self.jobs = jobs
            self.waiting = waiting
            self.queues = queues
            self.inboxes = inboxes
            self.ignored = ignored
            self.workers = workers
            self.cursor = cursor
            self.problems = problems
            self.root = root
        }
    }

    public struct Picture: Codable, Sendable, Hashable {
        public var format: String
        public var width: Int
        public var height: Int
        public var bytes: Int

        public init(format: String, width: Int, height: Int, bytes: Int) {
            self.format = format
            self.width = width
            self.height = height
            self.bytes = bytes
        }
    }

    public struct Job: Codable, Sendable, Hashable {
        public var id: Int
        @Nullable public var batch: Int?
        public var recipe: String
        public var input: String
        @Nullable public var url: String?
        public var state: String
        @Nullable public var reason: String?
        public var outputs: [String]
        @Nullable public var error: String?
        public var created: String
        @Nullable public var finished: String?
        @Nullable public var before: Picture?
        public var after: [Picture]
        @Nullable public var milliseconds: Double?
        /// The class of what it met last.
        @Nullable public var failure: String?
        /// How often it has met what may pass.
        public var setbacks: Int
        @Nullable public var due: String?

        public init(
            id: Int, batch: Int?, recipe: String, input: String, url: String? = nil, state: String, reason: String?,
            outputs: [String], error: String?, created: String, finished: String?, before: Picture? = nil,
            after: [Picture] = [], milliseconds: Double? = nil, failure: String? = nil, setbacks: Int = 0,
            due: String? = nil
        ) {
            self.setbacks = setbacks
            self.failure = failure
            self.due = due
            self.after = after
            self.before = before
            self.milliseconds = milliseconds
            self.id = id
            self.recipe = recipe
            self.input = input
            self.url = url
            self.state = state
            self.outputs = outputs
            self.created = created
            self.batch = batch
            self.reason = reason
            self.error = error
            self.finished = finished
        }
    }

    public struct Operation: Codable, Sendable, Hashable {
        public var kind: String
        public var queue: String
        public var state: String
        @Nullable public var started: String?
        @Nullable public var finished: String?
        @Nullable public var detail: String?
        /// Which try of the job it belongs to.
        public var attempt: Int
        /// The process that did the work.
        @Nullable public var worker: Int?
        @Nullable public var read: Int?
        @Nullable public var written: Int?
        /// The class of its failure.
        @Nullable public var failure: String?
        /// While it works.
        @Nullable public var progress: Progress?

        public init(
            kind: String, queue: String, state: String, started: String? = nil, finished: String? = nil,
            detail: String? = nil, attempt: Int = 1, worker: Int? = nil, read: Int? = nil, written: Int? = nil,
            failure: String? = nil, progress: Progress? = nil
        ) {
            self.progress = progress
            self.attempt = attempt
            self.worker = worker
            self.read = read
            self.written = written
            self.failure = failure
            self.kind = kind
            self.queue = queue
            self.state = state
            self.started = started
            self.finished = finished
            self.detail = detail
        }
    }

    public struct Story: Codable, Sendable, Hashable {
        public var job: Job
        /// By output name; the unnamed output is "".
        public var chains: [String: String]
        @Nullable public var original: String?
        public var tries: Int
        @Nullable public var started: String?
        @Nullable public var header: String?
        /// What can be done about it, when it has failed.
        @Nullable public var advice: String?
        public var operations: [Operation]
        public var priority: String
        /// What it comes after, and what comes after it.
        public var after: Neighbours
        public var followers: Neighbours

        public init(
            job: Job, chains: [String: String], original: String?, tries: Int, started: String?, header: String?,
            advice: String? = nil, operations: [Operation], priority: String = "normal",
            after: Neighbours = Neighbours(), followers: Neighbours = Neighbours()
        ) {
            self.advice = advice
            self.priority = priority
            self.after = after
            self.followers = followers
            self.job = job
            self.chains = chains
            self.tries = tries
            self.operations = operations
            self.original = original
            self.started = started
            self.header = header
        }
    }

    public struct Neighbour: Codable, Sendable, Hashable {
        public var id: Int
        @Nullable public var state: String?

        public init(id: Int, state: String?) {
            self.id = id
            self.state = state
        }
    }

    public struct Neighbours: Codable, Sendable, Hashable {
        /// The first hundred.
        public var jobs: [Neighbour]
        public var count: Int

        public init(jobs: [Neighbour] = [], count: Int = 0) {
            self.jobs = jobs
            self.count = count
        }
    }

    public struct Batch: Codable, Sendable, Hashable {
        public var id: Int
        @Nullable public var name: String?
        public var open: Bool
        public var waiting: Int
        public var queued: Int
        public var running: Int
        public var cancelling: Int
        public var done: Int
        public var failed: Int
        public var cancelled: Int

        public init(
            id: Int, name: String? = nil, open: Bool = false, waiting: Int = 0, queued: Int = 0, running: Int = 0,
            cancelling: Int = 0, done: Int = 0, failed: Int = 0, cancelled: Int = 0
        ) {
            self.id = id
            self.name = name
            self.open = open
            self.waiting = waiting
            self.queued = queued
            self.running = running
            self.cancelling = cancelling
            self.done = done
            self.failed = failed
            self.cancelled = cancelled
        }
    }

    public struct Event: Codable, Sendable, Hashable {
        public var cursor: Int
        public var time: String
        public var kind: String
        @Nullable public var job: Job?
        @Nullable public var batch: Batch?
        @Nullable public var queue: String?
        @Nullable public var text: String?

        public init(
            cursor: Int, time: String, kind: String, job: Job? = nil, batch: Batch? = nil, queue: String? = nil,
            text: String? = nil
        ) {
            self.cursor = cursor
            self.time = time
            self.kind = kind
            self.job = job
            self.batch = batch
            self.queue = queue
            self.text = text
        }
    }

    public struct PlannedOperation: Codable, Sendable, Hashable {
        public var kind: String
        public var queue: String
        public var does: String

        public init(kind: String, queue: String, does: String) {
            self.kind = kind
            self.queue = queue
            self.does = does
        }
    }

    /// How the pixels of an output would be read, and why so.
    public struct Decoding: Codable, Sendable, Hashable {
        @Nullable public var output: String?
        public var path: String

        public init(output: String?, path: String) {
            self.path = path
            self.output = output
        }
    }

    public struct Explanation: Codable, Sendable, Hashable {
        @Nullable public var recipe: String?
        public var why: String
        public var chains: [String: String]
        public var operations: [PlannedOperation]
        @Nullable public var job: Job?
        /// What the header of an opened picture says.
        @Nullable public var picture: String?
        public var decode: [Decoding]
        /// Why there is no `picture`, though one was opened.
        @Nullable public var problem: String?

        public init(
            recipe: String?, why: String, chains: [String: String], operations: [PlannedOperation], job: Job?,
            picture: String? = nil, decode: [Decoding] = [], problem: String? = nil
        ) {
            self.decode = decode
            self.picture = picture
            self.problem = problem
            self.why = why
            self.chains = chains
            self.operations = operations
            self.recipe = recipe
            self.job = job
        }
    }

    public struct Recipe: Codable, Sendable, Hashable {
        public var name: String
        @Nullable public var description: String?
        @Nullable public var file: String?
        @Nullable public var inbox: String?
        public var outbox: String
        public var match: [String]
        public var original: String
        public var conflict: String
        public var onTruncated: String
        public var priority: String
        public var chains: [String: String]
        @Nullable public var problem: String?
        @Nullable public var hook: String?
        public var hookFailures: Int

        public init(
            name: String, description: String?, file: String?, inbox: String?, outbox: String, match: [String],
            original: String, conflict: String, onTruncated: String, priority: String, chains: [String: String],
            problem: String?, hook: String? = nil, hookFailures: Int = 0
        ) {
            self.hookFailures = hookFailures
            self.name = name
            self.outbox = outbox
            self.match = match
            self.original = original
            self.conflict = conflict
            self.onTruncated = onTruncated
            self.priority = priority
            self.chains = chains
            self.description = description
            self.file = file
            self.inbox = inbox
            self.problem = problem
            self.hook = hook
        }
    }

    public struct Parameter: Codable, Sendable, Hashable {
        public var name: String
        public var type: String
        @Nullable public var minimum: Double?
        @Nullable public var maximum: Double?
        @Nullable public var `default`: String?
        /// Whether it must be given.
        public var required: Bool
        public var choices: [String]
        @Nullable public var unit: String?
        public var help: String

        public init(
            name: String, type: String, minimum: Double?, maximum: Double?, default: String?, required: Bool,
            choices: [String], unit: String?, help: String
        ) {
            self.name = name
            self.type = type
            self.required = required
            self.choices = choices
            self.help = help
            self.minimum = minimum
            self.maximum = maximum
            self.default = `default`
            self.unit = unit
        }
    }

    public struct Stage: Codable, Sendable, Hashable {
        public var name: String
        public var summary: String
        @Nullable public var version: String?
        @Nullable public var author: String?
        @Nullable public var file: String?
        /// `built in`, `loaded`, `older` (its file is newer than what is in use), `waiting` (its work does).
        public var state: String
        /// Why it is `older` or `waiting`.
        @Nullable public var reason: String?
        public var traits: [String]
        public var parameters: [Parameter]
        /// Names of parameters. A chain gives at least one of `atLeastOneOf`, and at most one of `atMostOneOf`.
        @AddedList public var atLeastOneOf: [String]
        @AddedList public var atMostOneOf: [String]

        public init(
            name: String, summary: String, version: String?, author: String?, file: String?, state: String,
            reason: String?, traits: [String], parameters: [Parameter], atLeastOneOf: [String] = [],
            atMostOneOf: [String] = []
        ) {
            self.name = name
            self.summary = summary
            self.state = state
            self.reason = reason
            self.traits = traits
            self.parameters = parameters
            self.atLeastOneOf = atLeastOneOf
            self.atMostOneOf = atMostOneOf
            self.version = version
            self.author = author
            self.file = file
        }
    }

    public struct SkippedPlugin: Codable, Sendable, Hashable {
        public var file: String
        public var reason: String

        public init(file: String, reason: String) {
            self.file = file
            self.reason = reason
        }
    }

    public struct Setting: Codable, Sendable, Hashable {
        public var section: String
        public var key: String
        public var value: String
        public var `default`: String
        /// The file it comes from, "default", or "pipectl" for a live change.
        public var source: String
        public var help: String

        public init(section: String, key: String, value: String, default: String, source: String, help: String) {
            self.section = section
            self.key = key
            self.value = value
            self.default = `default`
            self.source = source
            self.help = help
        }
    }

    public struct Problem: Codable, Sendable, Hashable {
        public var file: String
        @Nullable public var line: Int?
        public var message: String

        public init(file: String, line: Int?, message: String) {
            self.file = file
            self.message = message
            self.line = line
        }
    }
}
