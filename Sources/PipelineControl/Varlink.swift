// swift-format-ignore-file
// Made of the .varlink files beside it, by `./run generate`.
extension ControlInterface {
    public static let control = ControlInterface(name: "org.pipelined.Control", description: """
        # Shows, cancels and tunes a running pipelined.
        # Times are ISO 8601 in UTC. A job's state is one of: waiting (always with a reason), queued, running, cancelling, done,
        # failed, cancelled.
        # A call names at most \(mostIDs) IDs. A reason has at most \(longestReason) bytes, a chain \(longestChain).
        # A client that sends a call longer than MaxCall=, or reads none of its answers for StallTimeout=, is closed.
        interface org.pipelined.Control
        
        type Jobs (
          waiting: int, queued: int, running: int, cancelling: int,
          done: int, failed: int, cancelled: int, ignored: int
        )
        
        # `configured` is null when it is auto, and `automatic` is the number that auto means. `effective` is how many
        # operations may run at once.
        type Queue (
          configured: ?int, effective: int, running: int, waiting: int, paused: bool, reason: ?string, automatic: ?int
        )
        
        type Inbox (
          path: string, recipe: string, watch: string, settling: int, ignored: int, problem: ?string
        )
        
        type Waiting (reason: string, jobs: int)
        
        type Ignored (path: string, reason: string)
        
        type Overview (
          version: string, started: string, root: ?string, stopping: bool,
          jobs: Jobs, waiting: []Waiting, queues: [string]Queue, inboxes: []Inbox, ignored: []Ignored,
          workers: int, cursor: int, problems: []string
        )
        
        type Picture (format: string, width: int, height: int, bytes: int)
        
        # `input` is a path in the inbox, or a name; a download has the name of its URL until it has come.
        # `before` is the original, as far as its header has been read; `after` has a picture for each of `outputs`. `failure` is the
        # class of its last failure: input, transient, room, crash, timeout, configuration. `setbacks` counts transient failures, and
        # `due` is the time of the next try.
        type Job (
          id: int, batch: ?int, recipe: string, input: string, url: ?string, state: string, reason: ?string,
          outputs: []string, error: ?string, created: string, finished: ?string,
          before: ?Picture, after: []Picture, milliseconds: ?float,
          failure: ?string, setbacks: int, due: ?string
        )
        
        # `attempt` counts the tries of the job; `worker` is a process; `read` and `written` are bytes. `progress` is there while it
        # works, if it is known.
        type Operation (
          kind: string, queue: string, state: string, started: ?string, finished: ?string, detail: ?string,
          attempt: int, worker: ?int, read: ?int, written: ?int, failure: ?string, progress: ?Progress
        )
        
        # The progress of a download in bytes, of a render in pixels of the picture, once for each result, or of a batch in
        # jobs, where failed and cancelled jobs count as done. `total` is null while it is not known. `rate` is the recent
        # number of units a second, and `remaining` is in seconds: both are null while they are unknown, as during a pause.
        type Progress (unit: string, done: int, total: ?int, fraction: ?float, rate: ?float, remaining: ?float)
        
        # `fraction` covers all operations of the job; `operation` is the working one, and `progress` belongs to it.
        type JobProgress (job: Job, fraction: float, operation: ?string, progress: ?Progress)
        
        type BatchProgress (batch: Batch, progress: Progress)
        
        # A job's whole story.
        type Story (
          job: Job, chains: [string]string, original: ?string, tries: int,
          started: ?string, header: ?string, advice: ?string, operations: []Operation,
          priority: string, after: Neighbours, followers: Neighbours
        )
        
        # The jobs before another one, or behind it: the first hundred, and the number of all. A forgotten job has no state.
        type Neighbours (jobs: []Neighbour, count: int)
        type Neighbour (id: int, state: ?string)
        
        # The jobs of one list, or of one NewBatch, in their states. `name` is the list's.
        type Batch (
          id: int, name: ?string, open: bool,
          waiting: int, queued: int, running: int, cancelling: int, done: int, failed: int, cancelled: int
        )
        
        # A change. `kind` is `job` (its state), `published` (its results are in the outbox), `picture`
        # (its original lies where it belongs, too, so nothing of the job is left to do), `batch` (`text` is `arrived`
        # when all of its jobs are at a barrier, `ended` when all are over), `queue`, `settings`, or `lost` (events
        # before `cursor` are not in the log any more).
        type Event (
          cursor: int, time: string, kind: string, job: ?Job, batch: ?Batch, queue: ?string, text: ?string
        )
        
        type PlannedOperation (kind: string, queue: string, does: string)
        
        # How the pixels of an output would be read, and why.
        type Decoding (output: ?string, path: string)
        
        # `picture` is from the header of an opened picture; `problem` says why it can't be read.
        type Explanation (
          recipe: ?string, why: string, chains: [string]string, operations: []PlannedOperation, job: ?Job,
          picture: ?string, decode: []Decoding, problem: ?string
        )
        
        type Recipe (
          name: string, description: ?string, file: ?string, inbox: ?string, outbox: string, match: []string,
          original: string, conflict: string, onTruncated: string, priority: string, chains: [string]string,
          problem: ?string, hook: ?string, hookFailures: int
        )
        
        type Parameter (
          name: string, type: string, minimum: ?float, maximum: ?float, default: ?string, required: bool,
          choices: []string, unit: ?string, help: string
        )
        
        # A chain gives at least one of the parameters in `atLeastOneOf`, if there are any, and at most one of those in `atMostOneOf`.
        type Stage (
          name: string, summary: string, version: ?string, author: ?string, file: ?string, state: string, reason: ?string,
          traits: []string, parameters: []Parameter, atLeastOneOf: []string, atMostOneOf: []string
        )
        
        type SkippedPlugin (file: string, reason: string)
        
        type Setting (section: string, key: string, value: string, default: string, source: string, help: string)
        
        type Problem (file: string, line: ?int, message: string)
        
        method Status() -> (status: Overview)
        
        # Why jobs wait, the most frequent reason first: the jobs of these IDs, the jobs of a batch, or all jobs. Files that
        # still settle in an inbox are in Status alone. If there are many reasons, the rarer ones count together.
        method WhyWaiting(ids: []int, batch: ?int) -> (waiting: []Waiting)
        
        # The files that are left alone, with the reason, in the order of their paths; with `more`, in several replies.
        # With a recipe, the files of its inbox; with `after`, the files behind that path.
        method ListIgnored(recipe: ?string, after: ?string) -> (ignored: []Ignored)
        
        # Jobs by ID, oldest first; with `more`, in several replies. Empty lists mean no restriction; `limit` takes the newest.
        # `since` and `until` are when a job ended, or was taken when it has not: a time, or how long ago that is, as 1h.
        method List(
          states: []string, recipe: ?string, batch: ?int, limit: ?int, since: ?string, until: ?string
        ) -> (jobs: []Job)
        
        method Show(id: int) -> (story: Story)
        
        # Explains how a file or a chain would be treated. If a descriptor of the file is passed beside the call, open for reading, a
        # worker reads its header.
        method Explain(file: ?string, chain: ?string) -> (explanation: Explanation)
        
        # The picture is the one descriptor passed beside this call; no other call is sent in the same message. It has been copied
        # when the reply comes. Calls with the same `batch` belong together; NewBatch gives one. Its jobs wait at a barrier until it is
        # closed: by CloseBatch, or by the end of the connection that had it from NewBatch.
        # `after` and `anyway` are as in Depend, `priority` as in Prioritise; the default is the recipe's.
        method Add(
          name: string, recipe: ?string, chain: ?string, batch: ?int, after: ?[]int, anyway: ?bool, priority: ?string
        ) -> (job: Job)
        # Adds URLs: the file is a list of them, one a line, or a browser's shortcut if `name` ends in `.url`. The jobs from `first` to
        # `last` are entered together; without a `batch` they get a new one. A line that is no URL is a job that has failed.
        method AddList(
          name: ?string, recipe: ?string, chain: ?string, batch: ?int, after: ?[]int, anyway: ?bool, priority: ?string
        ) -> (batch: int, first: int, last: int)
        method NewBatch() -> (batch: int)
        method CloseBatch(batch: int) -> ()
        
        # With `more`, sends each job as it is over, until none of them is left; without IDs, until nothing is left to do. A
        # job is over when it has ended and its original lies where it belongs. `waitsFor` says why originals can't be moved,
        # because a disk is full or does not answer, say. It is sent when it changes, and is null when nothing holds them up.
        method Wait(ids: []int) -> (jobs: []Job, waitsFor: ?string)
        
        # With `more`, sends the changes since the cursor, then new ones; without a cursor, only new ones.
        method Watch(cursor: ?int) -> (events: []Event)
        
        # Reports the progress of unfinished batches, of all jobs without a batch together (`done` counts the ends since such a
        # job exists), and of the jobs in work. It names the first \(mostProgress) batches and jobs, and counts all in
        # `unfinished` and `running`. With `batch`, it reports that batch alone. With `more`, it sends each change, at most
        # \(progressRate) times a second, until the batch has ended.
        method Progress(batch: ?int) -> (
          batches: []BatchProgress, others: Progress, jobs: []JobProgress, unfinished: int, running: int
        )
        
        method Cancel(ids: []int) -> (jobs: []Job)
        # Answers when none of them runs.
        method CancelAll() -> (cancelled: int)
        # Cancels the jobs of a batch, of a recipe, or in one of these states: a job has to match every given condition, of which there is
        # at least one.
        method CancelMatching(batch: ?int, recipe: ?string, states: []string) -> (cancelled: int)
        
        # Makes a job that has not begun wait for others, or stop waiting for some. When one of them fails or is cancelled, the
        # job fails as well, unless `anyway`.
        method Depend(id: int, after: []int, remove: []int, anyway: bool) -> (job: Job)
        
        # `priority` is low, normal or high. It applies to jobs that have not begun, either the named ones or those of a batch.
        method Prioritise(ids: []int, batch: ?int, priority: string) -> (changed: int)
        
        # Brings back failed or cancelled jobs: the named ones, or all in the named states. Waiting jobs whose next try is due later are
        # tried at once.
        method Retry(ids: []int, states: []string) -> (retried: []int)
        
        # Pauses a queue, or without one download, render and publish. It answers when nothing new starts.
        method Pause(queue: ?string, reason: ?string) -> (queues: [string]Queue)
        method Resume(queue: ?string) -> (queues: [string]Queue)
        
        # With a queue, sets its limit: a number, or `auto`. 0 finishes what runs and starts nothing.
        method Concurrency(queue: ?string, limit: ?string, save: bool) -> (queues: [string]Queue)
        
        method Recipes() -> (recipes: []Recipe)
        method Plugins() -> (stages: []Stage, skipped: []SkippedPlugin)
        method Settings() -> (settings: []Setting)
        
        # Reads configuration and plugins again. If there are problems, nothing has changed. Otherwise the configuration
        # is in force, and the plugins in `skipped` are left out.
        method Reload() -> (problems: []Problem, skipped: []SkippedPlugin)
        
        error NoSuchJob (id: int)
        error NoSuchQueue (queue: string, queues: []string)
        error NoSuchRecipe (recipe: string, recipes: []string)
        error BadChain (message: string, column: int)
        error BadValue (message: string)
        # The call is understood, but can't be done now.
        error Refused (message: string)
        """)
    public static let service = ControlInterface(name: "org.varlink.service", description: """
        # The description that every Varlink service gives of itself.
        interface org.varlink.service
        
        method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)
        method GetInterfaceDescription(interface: string) -> (description: string)
        
        error InterfaceNotFound (interface: string)
        error MethodNotFound (method: string)
        error MethodNotImplemented (method: string)
        error InvalidParameter (parameter: string)
        """)
}
public enum Control {
    public struct Jobs: Codable, Sendable, Hashable {
        public var waiting: Int
        public var queued: Int
        public var running: Int
        public var cancelling: Int
        public var done: Int
        public var failed: Int
        public var cancelled: Int
        public var ignored: Int
        public init(waiting: Int, queued: Int, running: Int, cancelling: Int, done: Int, failed: Int, cancelled: Int, ignored: Int) {
            self.waiting = waiting
            self.queued = queued
            self.running = running
            self.cancelling = cancelling
            self.done = done
            self.failed = failed
            self.cancelled = cancelled
            self.ignored = ignored
        }
    }
    /// `configured` is null when it is auto, and `automatic` is the number that auto means. `effective` is how many
    /// operations may run at once.
    public struct Queue: Codable, Sendable, Hashable {
        @Omissible public var configured: Int?
        public var effective: Int
        public var running: Int
        public var waiting: Int
        public var paused: Bool
        @Omissible public var reason: String?
        @Omissible public var automatic: Int?
        public init(configured: Int? = nil, effective: Int, running: Int, waiting: Int, paused: Bool, reason: String? = nil, automatic: Int? = nil) {
            self.configured = configured
            self.effective = effective
            self.running = running
            self.waiting = waiting
            self.paused = paused
            self.reason = reason
            self.automatic = automatic
        }
    }
    public struct Inbox: Codable, Sendable, Hashable {
        public var path: String
        public var recipe: String
        public var watch: String
        public var settling: Int
        public var ignored: Int
        @Omissible public var problem: String?
        public init(path: String, recipe: String, watch: String, settling: Int, ignored: Int, problem: String? = nil) {
            self.path = path
            self.recipe = recipe
            self.watch = watch
            self.settling = settling
            self.ignored = ignored
            self.problem = problem
        }
    }
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
        @Omissible public var root: String?
        public var stopping: Bool
        public var jobs: Control.Jobs
        @Omissible public var waiting: [Control.Waiting]
        public var queues: [String: Control.Queue]
        @Omissible public var inboxes: [Control.Inbox]
        @Omissible public var ignored: [Control.Ignored]
        public var workers: Int
        public var cursor: Int
        @Omissible public var problems: [String]
        public init(version: String, started: String, root: String? = nil, stopping: Bool, jobs: Control.Jobs, waiting: [Control.Waiting] = [], queues: [String: Control.Queue], inboxes: [Control.Inbox] = [], ignored: [Control.Ignored] = [], workers: Int, cursor: Int, problems: [String] = []) {
            self.version = version
            self.started = started
            self.root = root
            self.stopping = stopping
            self.jobs = jobs
            self.waiting = waiting
            self.queues = queues
            self.inboxes = inboxes
            self.ignored = ignored
            self.workers = workers
            self.cursor = cursor
            self.problems = problems
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
    /// `input` is a path in the inbox, or a name; a download has the name of its URL until it has come.
    /// `before` is the original, as far as its header has been read; `after` has a picture for each of `outputs`. `failure` is the
    /// class of its last failure: input, transient, room, crash, timeout, configuration. `setbacks` counts transient failures, and
    /// `due` is the time of the next try.
    public struct Job: Codable, Sendable, Hashable {
        public var id: Int
        @Omissible public var batch: Int?
        public var recipe: String
        public var input: String
        @Omissible public var url: String?
        public var state: String
        @Omissible public var reason: String?
        @Omissible public var outputs: [String]
        @Omissible public var error: String?
        public var created: String
        @Omissible public var finished: String?
        @Omissible public var before: Control.Picture?
        @Omissible public var after: [Control.Picture]
        @Omissible public var milliseconds: Double?
        @Omissible public var failure: String?
        public var setbacks: Int
        @Omissible public var due: String?
        public init(id: Int, batch: Int? = nil, recipe: String, input: String, url: String? = nil, state: String, reason: String? = nil, outputs: [String] = [], error: String? = nil, created: String, finished: String? = nil, before: Control.Picture? = nil, after: [Control.Picture] = [], milliseconds: Double? = nil, failure: String? = nil, setbacks: Int, due: String? = nil) {
            self.id = id
            self.batch = batch
            self.recipe = recipe
            self.input = input
            self.url = url
            self.state = state
            self.reason = reason
            self.outputs = outputs
            self.error = error
            self.created = created
            self.finished = finished
            self.before = before
            self.after = after
            self.milliseconds = milliseconds
            self.failure = failure
            self.setbacks = setbacks
            self.due = due
        }
    }
    /// `attempt` counts the tries of the job; `worker` is a process; `read` and `written` are bytes. `progress` is there while it
    /// works, if it is known.
    public struct Operation: Codable, Sendable, Hashable {
        public var kind: String
        public var queue: String
        public var state: String
        @Omissible public var started: String?
        @Omissible public var finished: String?
        @Omissible public var detail: String?
        public var attempt: Int
        @Omissible public var worker: Int?
        @Omissible public var read: Int?
        @Omissible public var written: Int?
        @Omissible public var failure: String?
        @Omissible public var progress: Control.Progress?
        public init(kind: String, queue: String, state: String, started: String? = nil, finished: String? = nil, detail: String? = nil, attempt: Int, worker: Int? = nil, read: Int? = nil, written: Int? = nil, failure: String? = nil, progress: Control.Progress? = nil) {
            self.kind = kind
            self.queue = queue
            self.state = state
            self.started = started
            self.finished = finished
            self.detail = detail
            self.attempt = attempt
            self.worker = worker
            self.read = read
            self.written = written
            self.failure = failure
            self.progress = progress
        }
    }
    /// The progress of a download in bytes, of a render in pixels of the picture, once for each result, or of a batch in
    /// jobs, where failed and cancelled jobs count as done. `total` is null while it is not known. `rate` is the recent
    /// number of units a second, and `remaining` is in seconds: both are null while they are unknown, as during a pause.
    public struct Progress: Codable, Sendable, Hashable {
        public var unit: String
        public var done: Int
        @Omissible public var total: Int?
        @Omissible public var fraction: Double?
        @Omissible public var rate: Double?
        @Omissible public var remaining: Double?
        public init(unit: String, done: Int, total: Int? = nil, fraction: Double? = nil, rate: Double? = nil, remaining: Double? = nil) {
            self.unit = unit
            self.done = done
            self.total = total
            self.fraction = fraction
            self.rate = rate
            self.remaining = remaining
        }
    }
    /// `fraction` covers all operations of the job; `operation` is the working one, and `progress` belongs to it.
    public struct JobProgress: Codable, Sendable, Hashable {
        public var job: Control.Job
        public var fraction: Double
        @Omissible public var operation: String?
        @Omissible public var progress: Control.Progress?
        public init(job: Control.Job, fraction: Double, operation: String? = nil, progress: Control.Progress? = nil) {
            self.job = job
            self.fraction = fraction
            self.operation = operation
            self.progress = progress
        }
    }
    public struct BatchProgress: Codable, Sendable, Hashable {
        public var batch: Control.Batch
        public var progress: Control.Progress
        public init(batch: Control.Batch, progress: Control.Progress) {
            self.batch = batch
            self.progress = progress
        }
    }
    /// A job's whole story.
    public struct Story: Codable, Sendable, Hashable {
        public var job: Control.Job
        public var chains: [String: String]
        @Omissible public var original: String?
        public var tries: Int
        @Omissible public var started: String?
        @Omissible public var header: String?
        @Omissible public var advice: String?
        @Omissible public var operations: [Control.Operation]
        public var priority: String
        public var after: Control.Neighbours
        public var followers: Control.Neighbours
        public init(job: Control.Job, chains: [String: String], original: String? = nil, tries: Int, started: String? = nil, header: String? = nil, advice: String? = nil, operations: [Control.Operation] = [], priority: String, after: Control.Neighbours, followers: Control.Neighbours) {
            self.job = job
            self.chains = chains
            self.original = original
            self.tries = tries
            self.started = started
            self.header = header
            self.advice = advice
            self.operations = operations
            self.priority = priority
            self.after = after
            self.followers = followers
        }
    }
    /// The jobs before another one, or behind it: the first hundred, and the number of all. A forgotten job has no state.
    public struct Neighbours: Codable, Sendable, Hashable {
        @Omissible public var jobs: [Control.Neighbour]
        public var count: Int
        public init(jobs: [Control.Neighbour] = [], count: Int) {
            self.jobs = jobs
            self.count = count
        }
    }
    public struct Neighbour: Codable, Sendable, Hashable {
        public var id: Int
        @Omissible public var state: String?
        public init(id: Int, state: String? = nil) {
            self.id = id
            self.state = state
        }
    }
    /// The jobs of one list, or of one NewBatch, in their states. `name` is the list's.
    public struct Batch: Codable, Sendable, Hashable {
        public var id: Int
        @Omissible public var name: String?
        public var open: Bool
        public var waiting: Int
        public var queued: Int
        public var running: Int
        public var cancelling: Int
        public var done: Int
        public var failed: Int
        public var cancelled: Int
        public init(id: Int, name: String? = nil, open: Bool, waiting: Int, queued: Int, running: Int, cancelling: Int, done: Int, failed: Int, cancelled: Int) {
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
    /// A change. `kind` is `job` (its state), `published` (its results are in the outbox), `picture`
    /// (its original lies where it belongs, too, so nothing of the job is left to do), `batch` (`text` is `arrived`
    /// when all of its jobs are at a barrier, `ended` when all are over), `queue`, `settings`, or `lost` (events
    /// before `cursor` are not in the log any more).
    public struct Event: Codable, Sendable, Hashable {
        public var cursor: Int
        public var time: String
        public var kind: String
        @Omissible public var job: Control.Job?
        @Omissible public var batch: Control.Batch?
        @Omissible public var queue: String?
        @Omissible public var text: String?
        public init(cursor: Int, time: String, kind: String, job: Control.Job? = nil, batch: Control.Batch? = nil, queue: String? = nil, text: String? = nil) {
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
    /// How the pixels of an output would be read, and why.
    public struct Decoding: Codable, Sendable, Hashable {
        @Omissible public var output: String?
        public var path: String
        public init(output: String? = nil, path: String) {
            self.output = output
            self.path = path
        }
    }
    /// `picture` is from the header of an opened picture; `problem` says why it can't be read.
    public struct Explanation: Codable, Sendable, Hashable {
        @Omissible public var recipe: String?
        public var why: String
        public var chains: [String: String]
        @Omissible public var operations: [Control.PlannedOperation]
        @Omissible public var job: Control.Job?
        @Omissible public var picture: String?
        @Omissible public var decode: [Control.Decoding]
        @Omissible public var problem: String?
        public init(recipe: String? = nil, why: String, chains: [String: String], operations: [Control.PlannedOperation] = [], job: Control.Job? = nil, picture: String? = nil, decode: [Control.Decoding] = [], problem: String? = nil) {
            self.recipe = recipe
            self.why = why
            self.chains = chains
            self.operations = operations
            self.job = job
            self.picture = picture
            self.decode = decode
            self.problem = problem
        }
    }
    public struct Recipe: Codable, Sendable, Hashable {
        public var name: String
        @Omissible public var description: String?
        @Omissible public var file: String?
        @Omissible public var inbox: String?
        public var outbox: String
        @Omissible public var match: [String]
        public var original: String
        public var conflict: String
        public var onTruncated: String
        public var priority: String
        public var chains: [String: String]
        @Omissible public var problem: String?
        @Omissible public var hook: String?
        public var hookFailures: Int
        public init(name: String, description: String? = nil, file: String? = nil, inbox: String? = nil, outbox: String, match: [String] = [], original: String, conflict: String, onTruncated: String, priority: String, chains: [String: String], problem: String? = nil, hook: String? = nil, hookFailures: Int) {
            self.name = name
            self.description = description
            self.file = file
            self.inbox = inbox
            self.outbox = outbox
            self.match = match
            self.original = original
            self.conflict = conflict
            self.onTruncated = onTruncated
            self.priority = priority
            self.chains = chains
            self.problem = problem
            self.hook = hook
            self.hookFailures = hookFailures
        }
    }
    public struct Parameter: Codable, Sendable, Hashable {
        public var name: String
        public var type: String
        @Omissible public var minimum: Double?
        @Omissible public var maximum: Double?
        @Omissible public var `default`: String?
        public var required: Bool
        @Omissible public var choices: [String]
        @Omissible public var unit: String?
        public var help: String
        public init(name: String, type: String, minimum: Double? = nil, maximum: Double? = nil, `default`: String? = nil, required: Bool, choices: [String] = [], unit: String? = nil, help: String) {
            self.name = name
            self.type = type
            self.minimum = minimum
            self.maximum = maximum
            self.`default` = `default`
            self.required = required
            self.choices = choices
            self.unit = unit
            self.help = help
        }
    }
    /// A chain gives at least one of the parameters in `atLeastOneOf`, if there are any, and at most one of those in `atMostOneOf`.
    public struct Stage: Codable, Sendable, Hashable {
        public var name: String
        public var summary: String
        @Omissible public var version: String?
        @Omissible public var author: String?
        @Omissible public var file: String?
        public var state: String
        @Omissible public var reason: String?
        @Omissible public var traits: [String]
        @Omissible public var parameters: [Control.Parameter]
        @Omissible public var atLeastOneOf: [String]
        @Omissible public var atMostOneOf: [String]
        public init(name: String, summary: String, version: String? = nil, author: String? = nil, file: String? = nil, state: String, reason: String? = nil, traits: [String] = [], parameters: [Control.Parameter] = [], atLeastOneOf: [String] = [], atMostOneOf: [String] = []) {
            self.name = name
            self.summary = summary
            self.version = version
            self.author = author
            self.file = file
            self.state = state
            self.reason = reason
            self.traits = traits
            self.parameters = parameters
            self.atLeastOneOf = atLeastOneOf
            self.atMostOneOf = atMostOneOf
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
        public var source: String
        public var help: String
        public init(section: String, key: String, value: String, `default`: String, source: String, help: String) {
            self.section = section
            self.key = key
            self.value = value
            self.`default` = `default`
            self.source = source
            self.help = help
        }
    }
    public struct Problem: Codable, Sendable, Hashable {
        public var file: String
        @Omissible public var line: Int?
        public var message: String
        public init(file: String, line: Int? = nil, message: String) {
            self.file = file
            self.line = line
            self.message = message
        }
    }
}
public enum Call {
    public struct Status: ControlCall {
        public static let method = "org.pipelined.Control.Status"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var status: Control.Overview
            public init(status: Control.Overview) {
                self.status = status
            }
        }
    }
    /// Why jobs wait, the most frequent reason first: the jobs of these IDs, the jobs of a batch, or all jobs. Files that
    /// still settle in an inbox are in Status alone. If there are many reasons, the rarer ones count together.
    public struct WhyWaiting: ControlCall {
        public static let method = "org.pipelined.Control.WhyWaiting"
        public var ids: [Int]
        @Omissible public var batch: Int?
        public init(ids: [Int] = [], batch: Int? = nil) {
            self.ids = ids
            self.batch = batch
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var waiting: [Control.Waiting]
            public init(waiting: [Control.Waiting] = []) {
                self.waiting = waiting
            }
        }
    }
    /// The files that are left alone, with the reason, in the order of their paths; with `more`, in several replies.
    /// With a recipe, the files of its inbox; with `after`, the files behind that path.
    public struct ListIgnored: ControlCall {
        public static let method = "org.pipelined.Control.ListIgnored"
        @Omissible public var recipe: String?
        @Omissible public var after: String?
        public init(recipe: String? = nil, after: String? = nil) {
            self.recipe = recipe
            self.after = after
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var ignored: [Control.Ignored]
            public init(ignored: [Control.Ignored] = []) {
                self.ignored = ignored
            }
        }
    }
    /// Jobs by ID, oldest first; with `more`, in several replies. Empty lists mean no restriction; `limit` takes the newest.
    /// `since` and `until` are when a job ended, or was taken when it has not: a time, or how long ago that is, as 1h.
    public struct List: ControlCall {
        public static let method = "org.pipelined.Control.List"
        public var states: [String]
        @Omissible public var recipe: String?
        @Omissible public var batch: Int?
        @Omissible public var limit: Int?
        @Omissible public var since: String?
        @Omissible public var until: String?
        public init(states: [String] = [], recipe: String? = nil, batch: Int? = nil, limit: Int? = nil, since: String? = nil, until: String? = nil) {
            self.states = states
            self.recipe = recipe
            self.batch = batch
            self.limit = limit
            self.since = since
            self.until = until
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            public init(jobs: [Control.Job] = []) {
                self.jobs = jobs
            }
        }
    }
    public struct Show: ControlCall {
        public static let method = "org.pipelined.Control.Show"
        public var id: Int
        public init(id: Int) {
            self.id = id
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var story: Control.Story
            public init(story: Control.Story) {
                self.story = story
            }
        }
    }
    /// Explains how a file or a chain would be treated. If a descriptor of the file is passed beside the call, open for reading, a
    /// worker reads its header.
    public struct Explain: ControlCall {
        public static let method = "org.pipelined.Control.Explain"
        @Omissible public var file: String?
        @Omissible public var chain: String?
        public init(file: String? = nil, chain: String? = nil) {
            self.file = file
            self.chain = chain
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var explanation: Control.Explanation
            public init(explanation: Control.Explanation) {
                self.explanation = explanation
            }
        }
    }
    /// The picture is the one descriptor passed beside this call; no other call is sent in the same message. It has been copied
    /// when the reply comes. Calls with the same `batch` belong together; NewBatch gives one. Its jobs wait at a barrier until it is
    /// closed: by CloseBatch, or by the end of the connection that had it from NewBatch.
    /// `after` and `anyway` are as in Depend, `priority` as in Prioritise; the default is the recipe's.
    public struct Add: ControlCall {
        public static let method = "org.pipelined.Control.Add"
        public var name: String
        @Omissible public var recipe: String?
        @Omissible public var chain: String?
        @Omissible public var batch: Int?
        @Omissible public var after: [Int]?
        @Omissible public var anyway: Bool?
        @Omissible public var priority: String?
        public init(name: String, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil, anyway: Bool? = nil, priority: String? = nil) {
            self.name = name
            self.recipe = recipe
            self.chain = chain
            self.batch = batch
            self.after = after
            self.anyway = anyway
            self.priority = priority
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var job: Control.Job
            public init(job: Control.Job) {
                self.job = job
            }
        }
    }
    /// Adds URLs: the file is a list of them, one a line, or a browser's shortcut if `name` ends in `.url`. The jobs from `first` to
    /// `last` are entered together; without a `batch` they get a new one. A line that is no URL is a job that has failed.
    public struct AddList: ControlCall {
        public static let method = "org.pipelined.Control.AddList"
        @Omissible public var name: String?
        @Omissible public var recipe: String?
        @Omissible public var chain: String?
        @Omissible public var batch: Int?
        @Omissible public var after: [Int]?
        @Omissible public var anyway: Bool?
        @Omissible public var priority: String?
        public init(name: String? = nil, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil, anyway: Bool? = nil, priority: String? = nil) {
            self.name = name
            self.recipe = recipe
            self.chain = chain
            self.batch = batch
            self.after = after
            self.anyway = anyway
            self.priority = priority
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Int
            public var first: Int
            public var last: Int
            public init(batch: Int, first: Int, last: Int) {
                self.batch = batch
                self.first = first
                self.last = last
            }
        }
    }
    public struct NewBatch: ControlCall {
        public static let method = "org.pipelined.Control.NewBatch"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Int
            public init(batch: Int) {
                self.batch = batch
            }
        }
    }
    public struct CloseBatch: ControlCall {
        public static let method = "org.pipelined.Control.CloseBatch"
        public var batch: Int
        public init(batch: Int) {
            self.batch = batch
        }
        public struct Reply: Codable, Sendable, Hashable {
            public init() {
            }
        }
    }
    /// With `more`, sends each job as it is over, until none of them is left; without IDs, until nothing is left to do. A
    /// job is over when it has ended and its original lies where it belongs. `waitsFor` says why originals can't be moved,
    /// because a disk is full or does not answer, say. It is sent when it changes, and is null when nothing holds them up.
    public struct Wait: ControlCall {
        public static let method = "org.pipelined.Control.Wait"
        public var ids: [Int]
        public init(ids: [Int] = []) {
            self.ids = ids
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            @Omissible public var waitsFor: String?
            public init(jobs: [Control.Job] = [], waitsFor: String? = nil) {
                self.jobs = jobs
                self.waitsFor = waitsFor
            }
        }
    }
    /// With `more`, sends the changes since the cursor, then new ones; without a cursor, only new ones.
    public struct Watch: ControlCall {
        public static let method = "org.pipelined.Control.Watch"
        @Omissible public var cursor: Int?
        public init(cursor: Int? = nil) {
            self.cursor = cursor
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var events: [Control.Event]
            public init(events: [Control.Event] = []) {
                self.events = events
            }
        }
    }
    /// Reports the progress of unfinished batches, of all jobs without a batch together (`done` counts the ends since such a
    /// job exists), and of the jobs in work. It names the first \(mostProgress) batches and jobs, and counts all in
    /// `unfinished` and `running`. With `batch`, it reports that batch alone. With `more`, it sends each change, at most
    /// \(progressRate) times a second, until the batch has ended.
    public struct Progress: ControlCall {
        public static let method = "org.pipelined.Control.Progress"
        @Omissible public var batch: Int?
        public init(batch: Int? = nil) {
            self.batch = batch
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var batches: [Control.BatchProgress]
            public var others: Control.Progress
            @Omissible public var jobs: [Control.JobProgress]
            public var unfinished: Int
            public var running: Int
            public init(batches: [Control.BatchProgress] = [], others: Control.Progress, jobs: [Control.JobProgress] = [], unfinished: Int, running: Int) {
                self.batches = batches
                self.others = others
                self.jobs = jobs
                self.unfinished = unfinished
                self.running = running
            }
        }
    }
    public struct Cancel: ControlCall {
        public static let method = "org.pipelined.Control.Cancel"
        public var ids: [Int]
        public init(ids: [Int] = []) {
            self.ids = ids
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            public init(jobs: [Control.Job] = []) {
                self.jobs = jobs
            }
        }
    }
    /// Answers when none of them runs.
    public struct CancelAll: ControlCall {
        public static let method = "org.pipelined.Control.CancelAll"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var cancelled: Int
            public init(cancelled: Int) {
                self.cancelled = cancelled
            }
        }
    }
    /// Cancels the jobs of a batch, of a recipe, or in one of these states: a job has to match every given condition, of which there is
    /// at least one.
    public struct CancelMatching: ControlCall {
        public static let method = "org.pipelined.Control.CancelMatching"
        @Omissible public var batch: Int?
        @Omissible public var recipe: String?
        public var states: [String]
        public init(batch: Int? = nil, recipe: String? = nil, states: [String] = []) {
            self.batch = batch
            self.recipe = recipe
            self.states = states
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var cancelled: Int
            public init(cancelled: Int) {
                self.cancelled = cancelled
            }
        }
    }
    /// Makes a job that has not begun wait for others, or stop waiting for some. When one of them fails or is cancelled, the
    /// job fails as well, unless `anyway`.
    public struct Depend: ControlCall {
        public static let method = "org.pipelined.Control.Depend"
        public var id: Int
        public var after: [Int]
        public var remove: [Int]
        public var anyway: Bool
        public init(id: Int, after: [Int] = [], remove: [Int] = [], anyway: Bool = false) {
            self.id = id
            self.after = after
            self.remove = remove
            self.anyway = anyway
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var job: Control.Job
            public init(job: Control.Job) {
                self.job = job
            }
        }
    }
    /// `priority` is low, normal or high. It applies to jobs that have not begun, either the named ones or those of a batch.
    public struct Prioritise: ControlCall {
        public static let method = "org.pipelined.Control.Prioritise"
        public var ids: [Int]
        @Omissible public var batch: Int?
        public var priority: String
        public init(ids: [Int] = [], batch: Int? = nil, priority: String) {
            self.ids = ids
            self.batch = batch
            self.priority = priority
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var changed: Int
            public init(changed: Int) {
                self.changed = changed
            }
        }
    }
    /// Brings back failed or cancelled jobs: the named ones, or all in the named states. Waiting jobs whose next try is due later are
    /// tried at once.
    public struct Retry: ControlCall {
        public static let method = "org.pipelined.Control.Retry"
        public var ids: [Int]
        public var states: [String]
        public init(ids: [Int] = [], states: [String] = []) {
            self.ids = ids
            self.states = states
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var retried: [Int]
            public init(retried: [Int] = []) {
                self.retried = retried
            }
        }
    }
    /// Pauses a queue, or without one download, render and publish. It answers when nothing new starts.
    public struct Pause: ControlCall {
        public static let method = "org.pipelined.Control.Pause"
        @Omissible public var queue: String?
        @Omissible public var reason: String?
        public init(queue: String? = nil, reason: String? = nil) {
            self.queue = queue
            self.reason = reason
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                self.queues = queues
            }
        }
    }
    public struct Resume: ControlCall {
        public static let method = "org.pipelined.Control.Resume"
        @Omissible public var queue: String?
        public init(queue: String? = nil) {
            self.queue = queue
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                self.queues = queues
            }
        }
    }
    /// With a queue, sets its limit: a number, or `auto`. 0 finishes what runs and starts nothing.
    public struct Concurrency: ControlCall {
        public static let method = "org.pipelined.Control.Concurrency"
        @Omissible public var queue: String?
        @Omissible public var limit: String?
        public var save: Bool
        public init(queue: String? = nil, limit: String? = nil, save: Bool = false) {
            self.queue = queue
            self.limit = limit
            self.save = save
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                self.queues = queues
            }
        }
    }
    public struct Recipes: ControlCall {
        public static let method = "org.pipelined.Control.Recipes"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var recipes: [Control.Recipe]
            public init(recipes: [Control.Recipe] = []) {
                self.recipes = recipes
            }
        }
    }
    public struct Plugins: ControlCall {
        public static let method = "org.pipelined.Control.Plugins"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var stages: [Control.Stage]
            @Omissible public var skipped: [Control.SkippedPlugin]
            public init(stages: [Control.Stage] = [], skipped: [Control.SkippedPlugin] = []) {
                self.stages = stages
                self.skipped = skipped
            }
        }
    }
    public struct Settings: ControlCall {
        public static let method = "org.pipelined.Control.Settings"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var settings: [Control.Setting]
            public init(settings: [Control.Setting] = []) {
                self.settings = settings
            }
        }
    }
    /// Reads configuration and plugins again. If there are problems, nothing has changed. Otherwise the configuration
    /// is in force, and the plugins in `skipped` are left out.
    public struct Reload: ControlCall {
        public static let method = "org.pipelined.Control.Reload"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var problems: [Control.Problem]
            @Omissible public var skipped: [Control.SkippedPlugin]
            public init(problems: [Control.Problem] = [], skipped: [Control.SkippedPlugin] = []) {
                self.problems = problems
                self.skipped = skipped
            }
        }
    }
    public struct GetInfo: ControlCall {
        public static let method = "org.varlink.service.GetInfo"
        public init() {
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var vendor: String
            public var product: String
            public var version: String
            public var url: String
            @Omissible public var interfaces: [String]
            public init(vendor: String, product: String, version: String, url: String, interfaces: [String] = []) {
                self.vendor = vendor
                self.product = product
                self.version = version
                self.url = url
                self.interfaces = interfaces
            }
        }
    }
    public struct GetInterfaceDescription: ControlCall {
        public static let method = "org.varlink.service.GetInterfaceDescription"
        public var interface: String
        public init(interface: String) {
            self.interface = interface
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var description: String
            public init(description: String) {
                self.description = description
            }
        }
    }
}
public enum ControlError: Error, Sendable, Hashable {
    case noSuchJob(Int)
    case noSuchQueue(String, queues: [String])
    case noSuchRecipe(String, recipes: [String])
    case badChain(String, column: Int)
    case badValue(String)
    /// The call is understood, but can't be done now.
    case refused(String)
    case interfaceNotFound(String)
    case methodNotFound(String)
    case methodNotImplemented(String)
    case invalidParameter(String)
    /// An error that this version does not know.
    case other(name: String, message: String)
}
public struct ErrorParameters: Codable, Sendable {
    public var id: Int?
    public var queue: String?
    public var queues: [String]?
    public var recipe: String?
    public var recipes: [String]?
    public var message: String?
    public var column: Int?
    public var interface: String?
    public var method: String?
    public var parameter: String?
}
extension ControlError {
    public var wire: (name: String, parameters: ErrorParameters) {
        switch self {
            case .noSuchJob(let id):
                return ("org.pipelined.Control.NoSuchJob", ErrorParameters(id: id))
            case .noSuchQueue(let queue, let queues):
                return ("org.pipelined.Control.NoSuchQueue", ErrorParameters(queue: queue, queues: queues))
            case .noSuchRecipe(let recipe, let recipes):
                return ("org.pipelined.Control.NoSuchRecipe", ErrorParameters(recipe: recipe, recipes: recipes))
            case .badChain(let message, let column):
                return ("org.pipelined.Control.BadChain", ErrorParameters(message: message, column: column))
            case .badValue(let message):
                return ("org.pipelined.Control.BadValue", ErrorParameters(message: message))
            case .refused(let message):
                return ("org.pipelined.Control.Refused", ErrorParameters(message: message))
            case .interfaceNotFound(let interface):
                return ("org.varlink.service.InterfaceNotFound", ErrorParameters(interface: interface))
            case .methodNotFound(let method):
                return ("org.varlink.service.MethodNotFound", ErrorParameters(method: method))
            case .methodNotImplemented(let method):
                return ("org.varlink.service.MethodNotImplemented", ErrorParameters(method: method))
            case .invalidParameter(let parameter):
                return ("org.varlink.service.InvalidParameter", ErrorParameters(parameter: parameter))
            case .other(let name, let message): return (name, ErrorParameters(message: message))
        }
    }
    public init(name: String, parameters: ErrorParameters) {
        switch name {
            case "org.pipelined.Control.NoSuchJob": self = .noSuchJob(parameters.id ?? 0)
            case "org.pipelined.Control.NoSuchQueue": self = .noSuchQueue(parameters.queue ?? "", queues: parameters.queues ?? [])
            case "org.pipelined.Control.NoSuchRecipe": self = .noSuchRecipe(parameters.recipe ?? "", recipes: parameters.recipes ?? [])
            case "org.pipelined.Control.BadChain": self = .badChain(parameters.message ?? "", column: parameters.column ?? 0)
            case "org.pipelined.Control.BadValue": self = .badValue(parameters.message ?? "")
            case "org.pipelined.Control.Refused": self = .refused(parameters.message ?? "")
            case "org.varlink.service.InterfaceNotFound": self = .interfaceNotFound(parameters.interface ?? "")
            case "org.varlink.service.MethodNotFound": self = .methodNotFound(parameters.method ?? "")
            case "org.varlink.service.MethodNotImplemented": self = .methodNotImplemented(parameters.method ?? "")
            case "org.varlink.service.InvalidParameter": self = .invalidParameter(parameters.parameter ?? "")
            default: self = .other(name: name, message: parameters.message ?? "")
        }
    }
}
