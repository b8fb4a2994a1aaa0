// swift-format-ignore-file
// Made of the .varlink files beside it, by `./run generate`.
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
            (self.waiting, self.queued, self.running, self.cancelling, self.done, self.failed, self.cancelled, self.ignored) = (waiting, queued, running, cancelling, done, failed, cancelled, ignored)
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
            (self.configured, self.effective, self.running, self.waiting, self.paused, self.reason, self.automatic) = (configured, effective, running, waiting, paused, reason, automatic)
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
            (self.path, self.recipe, self.watch, self.settling, self.ignored, self.problem) = (path, recipe, watch, settling, ignored, problem)
        }
    }
    public struct Waiting: Codable, Sendable, Hashable {
        public var reason: String
        public var jobs: Int
        public init(reason: String, jobs: Int) {
            (self.reason, self.jobs) = (reason, jobs)
        }
    }
    public struct Ignored: Codable, Sendable, Hashable {
        public var path: String
        public var reason: String
        public init(path: String, reason: String) {
            (self.path, self.reason) = (path, reason)
        }
    }
    /// Files that jobs have left, in one of the places archive, failed, cancelled and results; `rule` says what is kept of them.
    public struct Kept: Codable, Sendable, Hashable {
        public var place: String
        public var rule: String
        public var files: Int
        public var bytes: Int
        public init(place: String, rule: String, files: Int, bytes: Int) {
            (self.place, self.rule, self.files, self.bytes) = (place, rule, files, bytes)
        }
    }
    /// Files of a place that were removed, or would be; `oldest` and `newest` are when the first and the last of them came. Files
    /// that can't be removed are counted in `refused`, with the first reason.
    public struct Cleaned: Codable, Sendable, Hashable {
        public var place: String
        public var files: Int
        public var bytes: Int
        @Omissible public var oldest: String?
        @Omissible public var newest: String?
        public var refused: Int
        @Omissible public var refusal: String?
        public init(place: String, files: Int, bytes: Int, oldest: String? = nil, newest: String? = nil, refused: Int, refusal: String? = nil) {
            (self.place, self.files, self.bytes, self.oldest, self.newest, self.refused, self.refusal) = (place, files, bytes, oldest, newest, refused, refusal)
        }
    }
    /// A disk on which originals or results lie, by one of the folders there: the bytes that the daemon may fill, and those that
    /// are free.
    public struct Disk: Codable, Sendable, Hashable {
        public var path: String
        public var bytes: Int
        public var free: Int
        public init(path: String, bytes: Int, free: Int) {
            (self.path, self.bytes, self.free) = (path, bytes, free)
        }
    }
    /// Another machine of the fleet. It has `taken` pictures of others, of as many as `places`, and has lent `lent`. `lacks` are the
    /// filters of this machine that it has not got, or has in another version, or "pipelined VERSION" if it has another.
    public struct Node: Codable, Sendable, Hashable {
        public var name: String
        public var version: String
        public var places: Int
        public var taken: Int
        public var lent: Int
        @Omissible public var lacks: [String]
        public init(name: String, version: String, places: Int, taken: Int, lent: Int, lacks: [String] = []) {
            (self.name, self.version, self.places, self.taken, self.lent, self.lacks) = (name, version, places, taken, lent, lacks)
        }
    }
    /// This machine in its fleet: as `name`, with the server that it is connected to, if it is. `silent` are the names of machines
    /// that were there, and have not been heard of lately.
    public struct Fleet: Codable, Sendable, Hashable {
        public var name: String
        @Omissible public var server: String?
        @Omissible public var problem: String?
        public var places: Int
        public var taken: Int
        public var lent: Int
        @Omissible public var nodes: [Control.Node]
        @Omissible public var silent: [String]
        public init(name: String, server: String? = nil, problem: String? = nil, places: Int, taken: Int, lent: Int, nodes: [Control.Node] = [], silent: [String] = []) {
            (self.name, self.server, self.problem, self.places, self.taken, self.lent, self.nodes, self.silent) = (name, server, problem, places, taken, lent, nodes, silent)
        }
    }
    /// `configured` is null when it is auto.
    public struct NodeQueue: Codable, Sendable, Hashable {
        public var name: String
        @Omissible public var configured: Int?
        public var effective: Int
        public var running: Int
        public var paused: Bool
        @Omissible public var reason: String?
        public init(name: String, configured: Int? = nil, effective: Int, running: Int, paused: Bool, reason: String? = nil) {
            (self.name, self.configured, self.effective, self.running, self.paused, self.reason) = (name, configured, effective, running, paused, reason)
        }
    }
    /// What a machine of the fleet says to a Command. Without `error` it has done it, and these are its `queues` afterwards.
    public struct NodeAnswer: Codable, Sendable, Hashable {
        public var node: String
        public var answered: Bool
        @Omissible public var error: String?
        @Omissible public var cancelled: Int?
        @Omissible public var queues: [Control.NodeQueue]
        public init(node: String, answered: Bool, error: String? = nil, cancelled: Int? = nil, queues: [Control.NodeQueue] = []) {
            (self.node, self.answered, self.error, self.cancelled, self.queues) = (node, answered, error, cancelled, queues)
        }
    }
    /// What a machine of the fleet answers to Ask: `reply` is the JSON of the call's reply. Without one, `error` says why.
    public struct NodeReply: Codable, Sendable, Hashable {
        public var node: String
        public var answered: Bool
        @Omissible public var error: String?
        @Omissible public var reply: String?
        public init(node: String, answered: Bool, error: String? = nil, reply: String? = nil) {
            (self.node, self.answered, self.error, self.reply) = (node, answered, error, reply)
        }
    }
    /// The outcome of a check of a machine: ok, silent, version (it has another version of pipelined), full (it had no free place),
    /// refused, late (it accepted, but sent no result) or failed. `accepted` is the time from the offer until it accepted the picture, and
    /// `milliseconds` until the result was here. `problem` says what to do, unless the outcome is ok. `lacks` is as in Node.
    public struct NodeCheck: Codable, Sendable, Hashable {
        public var node: String
        public var outcome: String
        @Omissible public var accepted: Double?
        @Omissible public var milliseconds: Double?
        @Omissible public var problem: String?
        @Omissible public var lacks: [String]
        public init(node: String, outcome: String, accepted: Double? = nil, milliseconds: Double? = nil, problem: String? = nil, lacks: [String] = []) {
            (self.node, self.outcome, self.accepted, self.milliseconds, self.problem, self.lacks) = (node, outcome, accepted, milliseconds, problem, lacks)
        }
    }
    /// A disk that does not answer is left out of `disks`. `fleet` is null where no other machines are lent work.
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
        @Omissible public var kept: [Control.Kept]
        @Omissible public var disks: [Control.Disk]
        @Omissible public var fleet: Control.Fleet?
        public init(version: String, started: String, root: String? = nil, stopping: Bool, jobs: Control.Jobs, waiting: [Control.Waiting] = [], queues: [String: Control.Queue], inboxes: [Control.Inbox] = [], ignored: [Control.Ignored] = [], workers: Int, cursor: Int, problems: [String] = [], kept: [Control.Kept] = [], disks: [Control.Disk] = [], fleet: Control.Fleet? = nil) {
            (self.version, self.started, self.root, self.stopping, self.jobs, self.waiting, self.queues, self.inboxes, self.ignored, self.workers, self.cursor, self.problems, self.kept, self.disks, self.fleet) = (version, started, root, stopping, jobs, waiting, queues, inboxes, ignored, workers, cursor, problems, kept, disks, fleet)
        }
    }
    /// `pages` counts the frames of an animation, or the pages of a document, if that is known.
    public struct Picture: Codable, Sendable, Hashable {
        public var format: String
        public var width: Int
        public var height: Int
        public var bytes: Int
        @Omissible public var pages: Int?
        public init(format: String, width: Int, height: Int, bytes: Int, pages: Int? = nil) {
            (self.format, self.width, self.height, self.bytes, self.pages) = (format, width, height, bytes, pages)
        }
    }
    /// `input` is a path in the inbox, or a name; a download has the name of its URL until it has come.
    /// `before` is the original, as far as its header has been read; `after` has a picture for each of `outputs`. `failure` is the
    /// class of its last failure: input, transient, room, crash, timeout, configuration. `setbacks` counts transient failures, and
    /// `due` is the time of the next try. `redo` is `underway` while a job that was done is processed again, and `outputs` are its
    /// results of before; it is `failed` or `cancelled` when the latest redo has ended so, and these results have stayed.
    /// `bytes` is the size of its original, and null until its download has come.
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
        @Omissible public var redo: String?
        @Omissible public var bytes: Int?
        public init(id: Int, batch: Int? = nil, recipe: String, input: String, url: String? = nil, state: String, reason: String? = nil, outputs: [String] = [], error: String? = nil, created: String, finished: String? = nil, before: Control.Picture? = nil, after: [Control.Picture] = [], milliseconds: Double? = nil, failure: String? = nil, setbacks: Int, due: String? = nil, redo: String? = nil, bytes: Int? = nil) {
            (self.id, self.batch, self.recipe, self.input, self.url, self.state, self.reason, self.outputs, self.error, self.created, self.finished, self.before, self.after, self.milliseconds, self.failure, self.setbacks, self.due, self.redo, self.bytes) = (id, batch, recipe, input, url, state, reason, outputs, error, created, finished, before, after, milliseconds, failure, setbacks, due, redo, bytes)
        }
    }
    /// Jobs with a common reason; `first` has a few of them.
    public struct Tally: Codable, Sendable, Hashable {
        public var reason: String
        public var jobs: Int
        @Omissible public var first: [Int]
        public init(reason: String, jobs: Int, first: [Int] = []) {
            (self.reason, self.jobs, self.first) = (reason, jobs, first)
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
            (self.kind, self.queue, self.state, self.started, self.finished, self.detail, self.attempt, self.worker, self.read, self.written, self.failure, self.progress) = (kind, queue, state, started, finished, detail, attempt, worker, read, written, failure, progress)
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
            (self.unit, self.done, self.total, self.fraction, self.rate, self.remaining) = (unit, done, total, fraction, rate, remaining)
        }
    }
    /// `fraction` covers all operations of the job; `operation` is the working one, and `progress` belongs to it.
    public struct JobProgress: Codable, Sendable, Hashable {
        public var job: Control.Job
        public var fraction: Double
        @Omissible public var operation: String?
        @Omissible public var progress: Control.Progress?
        public init(job: Control.Job, fraction: Double, operation: String? = nil, progress: Control.Progress? = nil) {
            (self.job, self.fraction, self.operation, self.progress) = (job, fraction, operation, progress)
        }
    }
    public struct BatchProgress: Codable, Sendable, Hashable {
        public var batch: Control.Batch
        public var progress: Control.Progress
        public init(batch: Control.Batch, progress: Control.Progress) {
            (self.batch, self.progress) = (batch, progress)
        }
    }
    /// A job's whole story. `removed` says who has removed the original, and when.
    public struct Story: Codable, Sendable, Hashable {
        public var job: Control.Job
        public var chains: [String: String]
        @Omissible public var original: String?
        @Omissible public var removed: String?
        public var tries: Int
        @Omissible public var started: String?
        @Omissible public var header: String?
        @Omissible public var advice: String?
        @Omissible public var operations: [Control.Operation]
        public var priority: String
        public var after: Control.Neighbours
        public var followers: Control.Neighbours
        public init(job: Control.Job, chains: [String: String], original: String? = nil, removed: String? = nil, tries: Int, started: String? = nil, header: String? = nil, advice: String? = nil, operations: [Control.Operation] = [], priority: String, after: Control.Neighbours, followers: Control.Neighbours) {
            (self.job, self.chains, self.original, self.removed, self.tries, self.started, self.header, self.advice, self.operations, self.priority, self.after, self.followers) = (job, chains, original, removed, tries, started, header, advice, operations, priority, after, followers)
        }
    }
    /// IDs without a gap: from `first` to `last`.
    public struct IDRange: Codable, Sendable, Hashable {
        public var first: Int
        public var last: Int
        public init(first: Int, last: Int) {
            (self.first, self.last) = (first, last)
        }
    }
    /// The jobs before another one, or behind it: the first hundred, and the number of all. A forgotten job has no state.
    public struct Neighbours: Codable, Sendable, Hashable {
        @Omissible public var jobs: [Control.Neighbour]
        public var count: Int
        public init(jobs: [Control.Neighbour] = [], count: Int) {
            (self.jobs, self.count) = (jobs, count)
        }
    }
    public struct Neighbour: Codable, Sendable, Hashable {
        public var id: Int
        @Omissible public var state: String?
        public init(id: Int, state: String? = nil) {
            (self.id, self.state) = (id, state)
        }
    }
    /// The jobs of one list, of one dropped folder, or of one NewBatch, in their states. `name` is the list's, the folder's, or the
    /// one given. `ended` is when all of them were over. `recipe` is that of its first job, and of all, unless a client has mixed them.
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
        @Omissible public var created: String?
        @Omissible public var ended: String?
        @Omissible public var recipe: String?
        public init(id: Int, name: String? = nil, open: Bool, waiting: Int, queued: Int, running: Int, cancelling: Int, done: Int, failed: Int, cancelled: Int, created: String? = nil, ended: String? = nil, recipe: String? = nil) {
            (self.id, self.name, self.open, self.waiting, self.queued, self.running, self.cancelling, self.done, self.failed, self.cancelled, self.created, self.ended, self.recipe) = (id, name, open, waiting, queued, running, cancelling, done, failed, cancelled, created, ended, recipe)
        }
    }
    /// A change. `kind` is `job` (its state), `published` (its results are in the outbox), `picture`
    /// (its original lies where it belongs, too, so nothing of the job is left to do), `over` (the same of a job that has failed or was
    /// cancelled, if it has an original, and of a job whose redo has), `batch` (`text` is `arrived`
    /// when all of its jobs are at a barrier, `ended` when all are over), `queue`, `settings`, or `lost` (events
    /// before `cursor` are not in the log any more). `original` is the path of the job's original once it lies where it belongs, and
    /// `advice` says what to do about a failure.
    public struct Event: Codable, Sendable, Hashable {
        public var cursor: Int
        public var time: String
        public var kind: String
        @Omissible public var job: Control.Job?
        @Omissible public var batch: Control.Batch?
        @Omissible public var queue: String?
        @Omissible public var text: String?
        @Omissible public var original: String?
        @Omissible public var advice: String?
        public init(cursor: Int, time: String, kind: String, job: Control.Job? = nil, batch: Control.Batch? = nil, queue: String? = nil, text: String? = nil, original: String? = nil, advice: String? = nil) {
            (self.cursor, self.time, self.kind, self.job, self.batch, self.queue, self.text, self.original, self.advice) = (cursor, time, kind, job, batch, queue, text, original, advice)
        }
    }
    public struct PlannedOperation: Codable, Sendable, Hashable {
        public var kind: String
        public var queue: String
        public var does: String
        public init(kind: String, queue: String, does: String) {
            (self.kind, self.queue, self.does) = (kind, queue, does)
        }
    }
    /// How the pixels of an output would be read, and why.
    public struct Decoding: Codable, Sendable, Hashable {
        @Omissible public var output: String?
        public var path: String
        public init(output: String? = nil, path: String) {
            (self.output, self.path) = (output, path)
        }
    }
    /// The name of an output's result, or of a tee's. Fields of Name= that are not known stay in it as they are written.
    public struct ResultName: Codable, Sendable, Hashable {
        @Omissible public var output: String?
        public var name: String
        public init(output: String? = nil, name: String) {
            (self.output, self.name) = (output, name)
        }
    }
    /// `picture` is from the header of an opened picture; `problem` says why it can't be read. `names` are paths.
    /// `date` is the one that they have, and says where it was read.
    public struct Explanation: Codable, Sendable, Hashable {
        @Omissible public var recipe: String?
        public var why: String
        public var chains: [String: String]
        @Omissible public var operations: [Control.PlannedOperation]
        @Omissible public var job: Control.Job?
        @Omissible public var picture: String?
        @Omissible public var decode: [Control.Decoding]
        @Omissible public var problem: String?
        @Omissible public var names: [Control.ResultName]
        @Omissible public var date: String?
        public init(recipe: String? = nil, why: String, chains: [String: String], operations: [Control.PlannedOperation] = [], job: Control.Job? = nil, picture: String? = nil, decode: [Control.Decoding] = [], problem: String? = nil, names: [Control.ResultName] = [], date: String? = nil) {
            (self.recipe, self.why, self.chains, self.operations, self.job, self.picture, self.decode, self.problem, self.names, self.date) = (recipe, why, chains, operations, job, picture, decode, problem, names, date)
        }
    }
    /// A result of Try, or `problem`, which says why there is none. `suffix` is that of a file's name for the
    /// result, if its format is known, `decode` says how the pixels were read, and `milliseconds` how long all results of the recipe took.
    public struct Proof: Codable, Sendable, Hashable {
        @Omissible public var recipe: String?
        @Omissible public var output: String?
        public var chain: String
        @Omissible public var suffix: String?
        @Omissible public var picture: Control.Picture?
        @Omissible public var decode: String?
        @Omissible public var milliseconds: Double?
        @Omissible public var problem: String?
        public init(recipe: String? = nil, output: String? = nil, chain: String, suffix: String? = nil, picture: Control.Picture? = nil, decode: String? = nil, milliseconds: Double? = nil, problem: String? = nil) {
            (self.recipe, self.output, self.chain, self.suffix, self.picture, self.decode, self.milliseconds, self.problem) = (recipe, output, chain, suffix, picture, decode, milliseconds, problem)
        }
    }
    /// `names` are the texts of Name=, for the outputs that have one.
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
        @Omissible public var hookOn: [String]
        public var hookFailures: Int
        @Omissible public var names: [Control.ResultName]
        @Omissible public var raw: String?
        @Omissible public var fleet: String?
        public init(name: String, description: String? = nil, file: String? = nil, inbox: String? = nil, outbox: String, match: [String] = [], original: String, conflict: String, onTruncated: String, priority: String, chains: [String: String], problem: String? = nil, hook: String? = nil, hookOn: [String] = [], hookFailures: Int, names: [Control.ResultName] = [], raw: String? = nil, fleet: String? = nil) {
            (self.name, self.description, self.file, self.inbox, self.outbox, self.match, self.original, self.conflict, self.onTruncated, self.priority, self.chains, self.problem, self.hook, self.hookOn, self.hookFailures, self.names, self.raw, self.fleet) = (name, description, file, inbox, outbox, match, original, conflict, onTruncated, priority, chains, problem, hook, hookOn, hookFailures, names, raw, fleet)
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
            (self.name, self.type, self.minimum, self.maximum, self.`default`, self.required, self.choices, self.unit, self.help) = (name, type, minimum, maximum, `default`, required, choices, unit, help)
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
            (self.name, self.summary, self.version, self.author, self.file, self.state, self.reason, self.traits, self.parameters, self.atLeastOneOf, self.atMostOneOf) = (name, summary, version, author, file, state, reason, traits, parameters, atLeastOneOf, atMostOneOf)
        }
    }
    public struct SkippedPlugin: Codable, Sendable, Hashable {
        public var file: String
        public var reason: String
        public init(file: String, reason: String) {
            (self.file, self.reason) = (file, reason)
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
            (self.section, self.key, self.value, self.`default`, self.source, self.help) = (section, key, value, `default`, source, help)
        }
    }
    public struct Problem: Codable, Sendable, Hashable {
        public var file: String
        @Omissible public var line: Int?
        public var message: String
        public init(file: String, line: Int? = nil, message: String) {
            (self.file, self.line, self.message) = (file, line, message)
        }
    }
    /// A figure for monitors. `kind` is counter, gauge or histogram. Counters and histograms begin at the daemon's start.
    public struct Metric: Codable, Sendable, Hashable {
        public var name: String
        public var kind: String
        public var help: String
        @Omissible public var samples: [Control.Sample]
        public init(name: String, kind: String, help: String, samples: [Control.Sample] = []) {
            (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
        }
    }
    /// `value` is the sum of a histogram's values, `count` their number, and each of its buckets counts those that were at most
    /// `most`.
    public struct Sample: Codable, Sendable, Hashable {
        public var labels: [String: String]
        public var value: Double
        @Omissible public var count: Int?
        @Omissible public var buckets: [Control.Bucket]
        public init(labels: [String: String], value: Double, count: Int? = nil, buckets: [Control.Bucket] = []) {
            (self.labels, self.value, self.count, self.buckets) = (labels, value, count, buckets)
        }
    }
    public struct Bucket: Codable, Sendable, Hashable {
        public var most: Double
        public var count: Int
        public init(most: Double, count: Int) {
            (self.most, self.count) = (most, count)
        }
    }
}
public enum Call {
    public struct Status: ControlCall {
        public static let method = "org.pipelined.Control.Status"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var status: Control.Overview
            public init(status: Control.Overview) {
                (self.status) = (status)
            }
        }
    }
    /// Figures for monitors; no label holds a path or an ID.
    public struct Metrics: ControlCall {
        public static let method = "org.pipelined.Control.Metrics"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var metrics: [Control.Metric]
            public init(metrics: [Control.Metric] = []) {
                (self.metrics) = (metrics)
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
            (self.ids, self.batch) = (ids, batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var waiting: [Control.Waiting]
            public init(waiting: [Control.Waiting] = []) {
                (self.waiting) = (waiting)
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
            (self.recipe, self.after) = (recipe, after)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var ignored: [Control.Ignored]
            public init(ignored: [Control.Ignored] = []) {
                (self.ignored) = (ignored)
            }
        }
    }
    /// Jobs by ID, oldest first; with `more`, in several replies. Empty lists mean no restriction; `limit` takes the newest.
    /// `since` and `until` are when a job ended, or was taken when it has not: a time, or how long ago that is, as 1h.
    /// With `before`, jobs with a lower ID: with `limit`, the page before the one that began with it.
    public struct List: ControlCall {
        public static let method = "org.pipelined.Control.List"
        public var states: [String]
        @Omissible public var recipe: String?
        @Omissible public var batch: Int?
        @Omissible public var limit: Int?
        @Omissible public var since: String?
        @Omissible public var until: String?
        @Omissible public var before: Int?
        public init(states: [String] = [], recipe: String? = nil, batch: Int? = nil, limit: Int? = nil, since: String? = nil, until: String? = nil, before: Int? = nil) {
            (self.states, self.recipe, self.batch, self.limit, self.since, self.until, self.before) = (states, recipe, batch, limit, since, until, before)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            public init(jobs: [Control.Job] = []) {
                (self.jobs) = (jobs)
            }
        }
    }
    /// The IDs of the jobs that List would give under the same conditions, oldest first. While some queues are held up, the waiting
    /// jobs, and the queued ones, are both of these.
    public struct ListIDs: ControlCall {
        public static let method = "org.pipelined.Control.ListIDs"
        public var states: [String]
        @Omissible public var recipe: String?
        @Omissible public var batch: Int?
        @Omissible public var since: String?
        @Omissible public var until: String?
        public init(states: [String] = [], recipe: String? = nil, batch: Int? = nil, since: String? = nil, until: String? = nil) {
            (self.states, self.recipe, self.batch, self.since, self.until) = (states, recipe, batch, since, until)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var ranges: [Control.IDRange]
            public init(ranges: [Control.IDRange] = []) {
                (self.ranges) = (ranges)
            }
        }
    }
    /// Batches by number, oldest first; with `more`, in several replies. With `name`, the batches of that name; `limit` takes the
    /// newest, and those that have not ended in any case.
    public struct Batches: ControlCall {
        public static let method = "org.pipelined.Control.Batches"
        @Omissible public var name: String?
        @Omissible public var limit: Int?
        public init(name: String? = nil, limit: Int? = nil) {
            (self.name, self.limit) = (name, limit)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var batches: [Control.Batch]
            public init(batches: [Control.Batch] = []) {
                (self.batches) = (batches)
            }
        }
    }
    /// The batch of this number, or else the newest of this name; `others` is how many more have the name. A folder whose files
    /// settle in an inbox has its batch from then on.
    public struct FindBatch: ControlCall {
        public static let method = "org.pipelined.Control.FindBatch"
        public var batch: String
        public init(batch: String) {
            (self.batch) = (batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Control.Batch
            public var others: Int
            public init(batch: Control.Batch, others: Int) {
                (self.batch, self.others) = (batch, others)
            }
        }
    }
    public struct Show: ControlCall {
        public static let method = "org.pipelined.Control.Show"
        public var id: Int
        public init(id: Int) {
            (self.id) = (id)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var story: Control.Story
            public init(story: Control.Story) {
                (self.story) = (story)
            }
        }
    }
    /// A picture of a job as a descriptor beside the reply, opened for reading: the `result`-th of its outputs, from 1, or without that
    /// its original, wherever it lies now. A file that somebody has changed is not handed out.
    /// With `width`, from 1 to \(largePreview), a small picture to look at: a WebP whose longer side has at most \(smallPreview) pixels if
    /// that is enough for `width`, or else at most \(largePreview). It is made when jobs leave a worker free, which may take a while, and is
    /// withdrawn with the connection. A small result that needs no preview is handed out itself. `name` has the suffix of
    /// what is handed out.
    public struct Open: ControlCall {
        public static let method = "org.pipelined.Control.Open"
        public var id: Int
        @Omissible public var result: Int?
        @Omissible public var width: Int?
        public init(id: Int, result: Int? = nil, width: Int? = nil) {
            (self.id, self.result, self.width) = (id, result, width)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var name: String
            public var bytes: Int
            public init(name: String, bytes: Int) {
                (self.name, self.bytes) = (name, bytes)
            }
        }
    }
    /// A job's latest events, at most a thousand, the oldest first, as far as HistoryEvents= keeps them.
    public struct Log: ControlCall {
        public static let method = "org.pipelined.Control.Log"
        public var id: Int
        public init(id: Int) {
            (self.id) = (id)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var events: [Control.Event]
            public init(events: [Control.Event] = []) {
                (self.events) = (events)
            }
        }
    }
    /// Explains how a file or a chain would be treated, or a file by a chain, with `raw` as in Add. If a descriptor of the file is
    /// passed beside the call, open for reading, a worker reads its header.
    public struct Explain: ControlCall {
        public static let method = "org.pipelined.Control.Explain"
        @Omissible public var file: String?
        @Omissible public var chain: String?
        @Omissible public var raw: String?
        public init(file: String? = nil, chain: String? = nil, raw: String? = nil) {
            (self.file, self.chain, self.raw) = (file, chain, raw)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var explanation: Control.Explanation
            public init(explanation: Control.Explanation) {
                (self.explanation) = (explanation)
            }
        }
    }
    /// Renders a picture, which is the one descriptor passed beside this call, without a job: through the outputs of these recipes and
    /// through these chains, at most \(mostProofs) results in all; without any, through the default recipe. The results come as
    /// descriptors beside the reply, to be read from their start, in the order of the proofs that have a picture. With `sheet`,
    /// the name of a format (jpeg, png or webp), one descriptor comes instead: the picture and its results side by side, each at
    /// most \(sheetEdge) pixels wide and high; `before` is the picture as it came. It ends with the connection. `raw` is as in Add.
    public struct Try: ControlCall {
        public static let method = "org.pipelined.Control.Try"
        public var name: String
        public var recipes: [String]
        public var chains: [String]
        @Omissible public var sheet: String?
        @Omissible public var raw: String?
        public init(name: String, recipes: [String] = [], chains: [String] = [], sheet: String? = nil, raw: String? = nil) {
            (self.name, self.recipes, self.chains, self.sheet, self.raw) = (name, recipes, chains, sheet, raw)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var before: Control.Picture?
            @Omissible public var proofs: [Control.Proof]
            @Omissible public var sheet: Control.Picture?
            public init(before: Control.Picture? = nil, proofs: [Control.Proof] = [], sheet: Control.Picture? = nil) {
                (self.before, self.proofs, self.sheet) = (before, proofs, sheet)
            }
        }
    }
    /// The picture is the one descriptor passed beside this call; no other call is sent in the same message. It has been copied
    /// when the reply comes. Calls with the same `batch` belong together; NewBatch gives one, with a name of at most 255 bytes. Its jobs wait at a barrier until it is
    /// closed: by CloseBatch, or by the end of the connection that had it from NewBatch.
    /// `after` and `anyway` are as in Depend, `priority` as in Prioritise; the default is the recipe's. Results lie in `folder` of the
    /// outbox, which is a relative path. With a chain, `raw` says how a camera's raw file is read: `preview`, which is the default, or
    /// `develop`.
    public struct Add: ControlCall {
        public static let method = "org.pipelined.Control.Add"
        public var name: String
        @Omissible public var recipe: String?
        @Omissible public var chain: String?
        @Omissible public var batch: Int?
        @Omissible public var after: [Int]?
        @Omissible public var anyway: Bool?
        @Omissible public var priority: String?
        @Omissible public var folder: String?
        @Omissible public var raw: String?
        public init(name: String, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil, anyway: Bool? = nil, priority: String? = nil, folder: String? = nil, raw: String? = nil) {
            (self.name, self.recipe, self.chain, self.batch, self.after, self.anyway, self.priority, self.folder, self.raw) = (name, recipe, chain, batch, after, anyway, priority, folder, raw)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var job: Control.Job
            public init(job: Control.Job) {
                (self.job) = (job)
            }
        }
    }
    /// For a client that has no place of its own: beside the reply comes an empty file without a name, on the disk that Add copies
    /// to, open for writing and reading, for a picture of so many bytes. It is gone when it is closed everywhere.
    public struct NewFile: ControlCall {
        public static let method = "org.pipelined.Control.NewFile"
        public var bytes: Int
        public init(bytes: Int) {
            (self.bytes) = (bytes)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public init() {}
        }
    }
    /// Which of these files an inbox of the recipe would leave alone by their names, with the reason. With a chain, or without
    /// a recipe, the names are judged as by `Add`.
    public struct Sift: ControlCall {
        public static let method = "org.pipelined.Control.Sift"
        public var names: [String]
        @Omissible public var recipe: String?
        @Omissible public var chain: String?
        public init(names: [String] = [], recipe: String? = nil, chain: String? = nil) {
            (self.names, self.recipe, self.chain) = (names, recipe, chain)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var ignored: [Control.Ignored]
            public init(ignored: [Control.Ignored] = []) {
                (self.ignored) = (ignored)
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
        @Omissible public var raw: String?
        public init(name: String? = nil, recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil, anyway: Bool? = nil, priority: String? = nil, raw: String? = nil) {
            (self.name, self.recipe, self.chain, self.batch, self.after, self.anyway, self.priority, self.raw) = (name, recipe, chain, batch, after, anyway, priority, raw)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Int
            public var first: Int
            public var last: Int
            public init(batch: Int, first: Int, last: Int) {
                (self.batch, self.first, self.last) = (batch, first, last)
            }
        }
    }
    /// The same, for clients that can't pass a descriptor. If one of the URLs is none, nothing is added.
    public struct AddUrls: ControlCall {
        public static let method = "org.pipelined.Control.AddUrls"
        public var urls: [String]
        @Omissible public var recipe: String?
        @Omissible public var chain: String?
        @Omissible public var batch: Int?
        @Omissible public var after: [Int]?
        @Omissible public var anyway: Bool?
        @Omissible public var priority: String?
        @Omissible public var raw: String?
        public init(urls: [String] = [], recipe: String? = nil, chain: String? = nil, batch: Int? = nil, after: [Int]? = nil, anyway: Bool? = nil, priority: String? = nil, raw: String? = nil) {
            (self.urls, self.recipe, self.chain, self.batch, self.after, self.anyway, self.priority, self.raw) = (urls, recipe, chain, batch, after, anyway, priority, raw)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Int
            public var first: Int
            public var last: Int
            public init(batch: Int, first: Int, last: Int) {
                (self.batch, self.first, self.last) = (batch, first, last)
            }
        }
    }
    public struct NewBatch: ControlCall {
        public static let method = "org.pipelined.Control.NewBatch"
        @Omissible public var name: String?
        public init(name: String? = nil) {
            (self.name) = (name)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var batch: Int
            public init(batch: Int) {
                (self.batch) = (batch)
            }
        }
    }
    public struct CloseBatch: ControlCall {
        public static let method = "org.pipelined.Control.CloseBatch"
        public var batch: Int
        public init(batch: Int) {
            (self.batch) = (batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public init() {}
        }
    }
    /// With `more`, sends each job as it is over, until none of them is left: the jobs of these IDs, or of a batch, until it has
    /// ended; without both, until nothing is left to do. A job is over when it has ended and its original lies where it belongs. `waitsFor` says why originals can't be moved,
    /// because a disk is full or does not answer, say. It is sent when it changes, and is null when nothing holds them up.
    public struct Wait: ControlCall {
        public static let method = "org.pipelined.Control.Wait"
        public var ids: [Int]
        @Omissible public var batch: Int?
        public init(ids: [Int] = [], batch: Int? = nil) {
            (self.ids, self.batch) = (ids, batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            @Omissible public var waitsFor: String?
            public init(jobs: [Control.Job] = [], waitsFor: String? = nil) {
                (self.jobs, self.waitsFor) = (jobs, waitsFor)
            }
        }
    }
    /// With `more`, sends the changes since the cursor, then new ones; without a cursor, only new ones.
    public struct Watch: ControlCall {
        public static let method = "org.pipelined.Control.Watch"
        @Omissible public var cursor: Int?
        public init(cursor: Int? = nil) {
            (self.cursor) = (cursor)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var events: [Control.Event]
            public init(events: [Control.Event] = []) {
                (self.events) = (events)
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
            (self.batch) = (batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var batches: [Control.BatchProgress]
            public var others: Control.Progress
            @Omissible public var jobs: [Control.JobProgress]
            public var unfinished: Int
            public var running: Int
            public init(batches: [Control.BatchProgress] = [], others: Control.Progress, jobs: [Control.JobProgress] = [], unfinished: Int, running: Int) {
                (self.batches, self.others, self.jobs, self.unfinished, self.running) = (batches, others, jobs, unfinished, running)
            }
        }
    }
    public struct Cancel: ControlCall {
        public static let method = "org.pipelined.Control.Cancel"
        public var ids: [Int]
        public init(ids: [Int] = []) {
            (self.ids) = (ids)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Control.Job]
            public init(jobs: [Control.Job] = []) {
                (self.jobs) = (jobs)
            }
        }
    }
    /// Answers when none of them runs.
    public struct CancelAll: ControlCall {
        public static let method = "org.pipelined.Control.CancelAll"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var cancelled: Int
            public init(cancelled: Int) {
                (self.cancelled) = (cancelled)
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
            (self.batch, self.recipe, self.states) = (batch, recipe, states)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var cancelled: Int
            public init(cancelled: Int) {
                (self.cancelled) = (cancelled)
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
            (self.id, self.after, self.remove, self.anyway) = (id, after, remove, anyway)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var job: Control.Job
            public init(job: Control.Job) {
                (self.job) = (job)
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
            (self.ids, self.batch, self.priority) = (ids, batch, priority)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var changed: Int
            public init(changed: Int) {
                (self.changed) = (changed)
            }
        }
    }
    /// Brings back failed or cancelled jobs: the named ones, or all in the named states. Waiting jobs whose next try is due later are
    /// tried at once. With a batch and no IDs, only jobs of the batch: those in the named states, or else failed and cancelled ones.
    public struct Retry: ControlCall {
        public static let method = "org.pipelined.Control.Retry"
        public var ids: [Int]
        public var states: [String]
        @Omissible public var batch: Int?
        public init(ids: [Int] = [], states: [String] = [], batch: Int? = nil) {
            (self.ids, self.states, self.batch) = (ids, states, batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var retried: [Int]
            public init(retried: [Int] = []) {
                (self.retried) = (retried)
            }
        }
    }
    /// Removes files that jobs have left in these places, the oldest first: those that came before `older` (as `since` of List), and
    /// as many as there are beyond the bytes `most`, written as 200G. Without both, all go. With a recipe, its files alone go. With
    /// `trial`, they are counted, and stay. A file that somebody has changed stays in any case.
    public struct Clean: ControlCall {
        public static let method = "org.pipelined.Control.Clean"
        public var places: [String]
        @Omissible public var older: String?
        @Omissible public var most: String?
        @Omissible public var recipe: String?
        @Omissible public var trial: Bool?
        public init(places: [String] = [], older: String? = nil, most: String? = nil, recipe: String? = nil, trial: Bool? = nil) {
            (self.places, self.older, self.most, self.recipe, self.trial) = (places, older, most, recipe, trial)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var cleaned: [Control.Cleaned]
            public init(cleaned: [Control.Cleaned] = []) {
                (self.cleaned) = (cleaned)
            }
        }
    }
    /// Forgets jobs that are over: the named ones, or all in the named states, of a recipe, that ended before `older`. Their files
    /// stay, and are no longer known. A job whose original stays in an inbox is not forgotten, because the inbox would take that
    /// again; `left` counts such jobs.
    public struct Forget: ControlCall {
        public static let method = "org.pipelined.Control.Forget"
        public var ids: [Int]
        public var states: [String]
        @Omissible public var recipe: String?
        @Omissible public var older: String?
        public init(ids: [Int] = [], states: [String] = [], recipe: String? = nil, older: String? = nil) {
            (self.ids, self.states, self.recipe, self.older) = (ids, states, recipe, older)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var forgotten: Int
            public var left: Int
            public init(forgotten: Int, left: Int) {
                (self.forgotten, self.left) = (forgotten, left)
            }
        }
    }
    /// Processes done jobs again, under their recipe as it is now: the named ones, those that match every given condition, or
    /// `all`. `path` is an original in an archive, or a folder with originals; `since` is as in List. Until there are new results,
    /// the old ones stay. A result that somebody has changed stays in any case, beside the new one. `refused` counts the jobs that
    /// can't be processed again, with the reasons, and `unknown` the files at `path` that are no job's original. With `check`,
    /// nothing changes, and `jobs` could be processed again, with `remarks` about some of them.
    public struct Redo: ControlCall {
        public static let method = "org.pipelined.Control.Redo"
        public var ids: [Int]
        @Omissible public var batch: Int?
        @Omissible public var recipe: String?
        @Omissible public var since: String?
        @Omissible public var path: String?
        @Omissible public var all: Bool?
        @Omissible public var check: Bool?
        public init(ids: [Int] = [], batch: Int? = nil, recipe: String? = nil, since: String? = nil, path: String? = nil, all: Bool? = nil, check: Bool? = nil) {
            (self.ids, self.batch, self.recipe, self.since, self.path, self.all, self.check) = (ids, batch, recipe, since, path, all, check)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Int]
            @Omissible public var refused: [Control.Tally]
            @Omissible public var remarks: [Control.Tally]
            public var unknown: Int
            public init(jobs: [Int] = [], refused: [Control.Tally] = [], remarks: [Control.Tally] = [], unknown: Int) {
                (self.jobs, self.refused, self.remarks, self.unknown) = (jobs, refused, remarks, unknown)
            }
        }
    }
    /// Withdraws the results of done jobs, which are cancelled then, and moves their originals to `cancelled/`, or to the folder
    /// `to`. An original that was kept in its inbox stays there, and so does a result that somebody has changed. Answers when
    /// that has happened. The conditions are those of Redo.
    public struct Undo: ControlCall {
        public static let method = "org.pipelined.Control.Undo"
        public var ids: [Int]
        @Omissible public var batch: Int?
        @Omissible public var recipe: String?
        @Omissible public var since: String?
        @Omissible public var to: String?
        @Omissible public var check: Bool?
        public init(ids: [Int] = [], batch: Int? = nil, recipe: String? = nil, since: String? = nil, to: String? = nil, check: Bool? = nil) {
            (self.ids, self.batch, self.recipe, self.since, self.to, self.check) = (ids, batch, recipe, since, to, check)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var jobs: [Int]
            @Omissible public var refused: [Control.Tally]
            @Omissible public var remarks: [Control.Tally]
            public init(jobs: [Int] = [], refused: [Control.Tally] = [], remarks: [Control.Tally] = []) {
                (self.jobs, self.refused, self.remarks) = (jobs, refused, remarks)
            }
        }
    }
    /// Pauses a queue, or without one download, render and publish. It answers when nothing new starts.
    public struct Pause: ControlCall {
        public static let method = "org.pipelined.Control.Pause"
        @Omissible public var queue: String?
        @Omissible public var reason: String?
        public init(queue: String? = nil, reason: String? = nil) {
            (self.queue, self.reason) = (queue, reason)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                (self.queues) = (queues)
            }
        }
    }
    public struct Resume: ControlCall {
        public static let method = "org.pipelined.Control.Resume"
        @Omissible public var queue: String?
        public init(queue: String? = nil) {
            (self.queue) = (queue)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                (self.queues) = (queues)
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
            (self.queue, self.limit, self.save) = (queue, limit, save)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                (self.queues) = (queues)
            }
        }
    }
    /// Pauses download and render, and answers when what was in work is published, and no picture of another machine is here any
    /// more. Resume ends it. Refused while rendered pictures wait behind the queue publish, which is paused or has the limit 0.
    public struct Drain: ControlCall {
        public static let method = "org.pipelined.Control.Drain"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                (self.queues) = (queues)
            }
        }
    }
    /// Tells machines of the fleet to do something: `command` is pause, resume, concurrency, cancel-all or drain, and the other
    /// parameters are those of that method. Without `nodes` it is for all of them, this one included. It answers when each has
    /// done it, or does not answer.
    public struct Command: ControlCall {
        public static let method = "org.pipelined.Control.Command"
        public var command: String
        public var nodes: [String]
        @Omissible public var queue: String?
        @Omissible public var limit: String?
        @Omissible public var reason: String?
        public var save: Bool
        public init(command: String, nodes: [String] = [], queue: String? = nil, limit: String? = nil, reason: String? = nil, save: Bool = false) {
            (self.command, self.nodes, self.queue, self.limit, self.reason, self.save) = (command, nodes, queue, limit, reason, save)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var answers: [Control.NodeAnswer]
            public init(answers: [Control.NodeAnswer] = []) {
                (self.answers) = (answers)
            }
        }
    }
    /// Asks machines of the fleet for the reply to a call that changes nothing: Status, List or Show, with the JSON of its parameters.
    /// `nodes` is as in Command. A reply has at most 61440 bytes, so List needs a `limit`; one that is longer is an error.
    public struct Ask: ControlCall {
        public static let method = "org.pipelined.Control.Ask"
        public var nodes: [String]
        public var call: String
        public var parameters: String
        public init(nodes: [String] = [], call: String, parameters: String) {
            (self.nodes, self.call, self.parameters) = (nodes, call, parameters)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var answers: [Control.NodeReply]
            public init(answers: [Control.NodeReply] = []) {
                (self.answers) = (answers)
            }
        }
    }
    /// Lends a small picture to these machines of the fleet, or to all others, whatever `Give=` allows. A machine has 10 seconds to accept
    /// it, and 20 more for the result. All are checked at the same time. It ends with the connection, and no job is made.
    public struct CheckFleet: ControlCall {
        public static let method = "org.pipelined.Control.CheckFleet"
        public var nodes: [String]
        public init(nodes: [String] = []) {
            (self.nodes) = (nodes)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var checks: [Control.NodeCheck]
            public init(checks: [Control.NodeCheck] = []) {
                (self.checks) = (checks)
            }
        }
    }
    /// `folder` holds the recipes' files.
    public struct Recipes: ControlCall {
        public static let method = "org.pipelined.Control.Recipes"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var recipes: [Control.Recipe]
            public var folder: String
            public init(recipes: [Control.Recipe] = [], folder: String) {
                (self.recipes, self.folder) = (recipes, folder)
            }
        }
    }
    public struct Plugins: ControlCall {
        public static let method = "org.pipelined.Control.Plugins"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var stages: [Control.Stage]
            @Omissible public var skipped: [Control.SkippedPlugin]
            public init(stages: [Control.Stage] = [], skipped: [Control.SkippedPlugin] = []) {
                (self.stages, self.skipped) = (stages, skipped)
            }
        }
    }
    public struct Settings: ControlCall {
        public static let method = "org.pipelined.Control.Settings"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var settings: [Control.Setting]
            public init(settings: [Control.Setting] = []) {
                (self.settings) = (settings)
            }
        }
    }
    /// Reads configuration and plugins again. If there are problems, nothing has changed. Otherwise the configuration
    /// is in force, the plugins in `skipped` are left out, and the hooks in `hooks` are not run. With `check`, nothing changes in
    /// any case.
    public struct Reload: ControlCall {
        public static let method = "org.pipelined.Control.Reload"
        @Omissible public var check: Bool?
        public init(check: Bool? = nil) {
            (self.check) = (check)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var problems: [Control.Problem]
            @Omissible public var skipped: [Control.SkippedPlugin]
            @Omissible public var hooks: [Control.Problem]
            public init(problems: [Control.Problem] = [], skipped: [Control.SkippedPlugin] = [], hooks: [Control.Problem] = []) {
                (self.problems, self.skipped, self.hooks) = (problems, skipped, hooks)
            }
        }
    }
    public struct GetInfo: ControlCall {
        public static let method = "org.varlink.service.GetInfo"
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var vendor: String
            public var product: String
            public var version: String
            public var url: String
            @Omissible public var interfaces: [String]
            public init(vendor: String, product: String, version: String, url: String, interfaces: [String] = []) {
                (self.vendor, self.product, self.version, self.url, self.interfaces) = (vendor, product, version, url, interfaces)
            }
        }
    }
    public struct GetInterfaceDescription: ControlCall {
        public static let method = "org.varlink.service.GetInterfaceDescription"
        public var interface: String
        public init(interface: String) {
            (self.interface) = (interface)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public var description: String
            public init(description: String) {
                (self.description) = (description)
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
