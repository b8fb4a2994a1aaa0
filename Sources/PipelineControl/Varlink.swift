// swift-format-ignore-file
// Generated from the .varlink files beside it, by `./run generate`.
public enum Control {
    public struct Jobs: Codable, Sendable, Hashable {
        /// the number of jobs that wait for something, such as space in the outbox. This includes the files that are still
        /// settling in an inbox, and the queued jobs of queues that start nothing
        public var waiting: Int
        /// the number of jobs that are ready and wait for their turn in a queue
        public var queued: Int
        /// the number of jobs that the daemon is processing
        public var running: Int
        /// the number of jobs that are being cancelled, but still have a running operation
        public var cancelling: Int
        /// the number of jobs whose results are published
        public var done: Int
        /// the number of jobs that have failed
        public var failed: Int
        /// the number of jobs that were cancelled
        public var cancelled: Int
        /// the number of files in the inboxes that the daemon leaves alone; these files are not jobs
        public var ignored: Int
        public init(waiting: Int, queued: Int, running: Int, cancelling: Int, done: Int, failed: Int, cancelled: Int, ignored: Int) {
            (self.waiting, self.queued, self.running, self.cancelling, self.done, self.failed, self.cancelled, self.ignored) = (waiting, queued, running, cancelling, done, failed, cancelled, ignored)
        }
    }
    /// A queue of operations.
    public struct Queue: Codable, Sendable, Hashable {
        /// the limit that was set; null means auto
        @Omissible public var configured: Int?
        /// the maximum number of operations that run at once
        public var effective: Int
        /// the number of operations that run
        public var running: Int
        /// the number of operations that wait for their turn
        public var waiting: Int
        /// whether the queue is paused, so that it starts nothing new
        public var paused: Bool
        /// the latest reason that was given for the pause
        @Omissible public var reason: String?
        /// the limit that auto stands for in this queue
        @Omissible public var automatic: Int?
        /// why operations wait although the limit allows more, for example because PerHost= holds back downloads; null if there
        /// is no such reason
        @Omissible public var held: String?
        public init(configured: Int? = nil, effective: Int, running: Int, waiting: Int, paused: Bool, reason: String? = nil, automatic: Int? = nil, held: String? = nil) {
            (self.configured, self.effective, self.running, self.waiting, self.paused, self.reason, self.automatic, self.held) = (configured, effective, running, waiting, paused, reason, automatic, held)
        }
    }
    public struct Inbox: Codable, Sendable, Hashable {
        /// the path of the folder
        public var path: String
        /// the name of the recipe that the inbox belongs to
        public var recipe: String
        /// how the daemon watches the folder: `inotify` or `poll`. After `poll`, the reason may follow in parentheses.
        /// Until the daemon has opened the folder, the value is `starting`
        public var watch: String
        /// the number of files that may still be growing
        public var settling: Int
        /// the number of files that the daemon leaves alone
        public var ignored: Int
        /// why the daemon can't watch the folder, or takes nothing from it, for example because the outbox has no space or
        /// the ledger can't be written
        @Omissible public var problem: String?
        public init(path: String, recipe: String, watch: String, settling: Int, ignored: Int, problem: String? = nil) {
            (self.path, self.recipe, self.watch, self.settling, self.ignored, self.problem) = (path, recipe, watch, settling, ignored, problem)
        }
    }
    public struct Waiting: Codable, Sendable, Hashable {
        /// the reason why the jobs wait
        public var reason: String
        /// the number of jobs that wait for this reason. Jobs that wait for their next attempt are counted together if they
        /// met the same error. Beyond 20 reasons, the rarest are combined into one, `other reasons`
        public var jobs: Int
        public init(reason: String, jobs: Int) {
            (self.reason, self.jobs) = (reason, jobs)
        }
    }
    public struct Ignored: Codable, Sendable, Hashable {
        /// the path of the file
        public var path: String
        /// why the daemon leaves the file alone
        public var reason: String
        public init(path: String, reason: String) {
            (self.path, self.reason) = (path, reason)
        }
    }
    /// The files that inboxes leave alone for the same reason.
    public struct IgnoredReason: Codable, Sendable, Hashable {
        /// why the daemon leaves the files alone
        public var reason: String
        /// the number of files
        public var files: Int
        /// the path of one of the files
        public var example: String
        public init(reason: String, files: Int, example: String) {
            (self.reason, self.files, self.example) = (reason, files, example)
        }
    }
    /// Files that jobs have left in one place.
    public struct Kept: Codable, Sendable, Hashable {
        /// the place: `archive`, `failed`, `cancelled` or `results`
        public var place: String
        /// the setting in `[Keep]` that limits the age or the total size of the files: an age, a size, both, or `keep`,
        /// which means no limit
        public var rule: String
        /// the number of files that the daemon knows. A file that somebody else has removed counts until the daemon tries to
        /// remove it
        public var files: Int
        /// the total size that the files had when they arrived in this place, in bytes
        public var bytes: Int
        public init(place: String, rule: String, files: Int, bytes: Int) {
            (self.place, self.rule, self.files, self.bytes) = (place, rule, files, bytes)
        }
    }
    /// The files that Clean has removed from a place, or would remove.
    public struct Cleaned: Codable, Sendable, Hashable {
        /// as in Kept
        public var place: String
        /// the number of files that were removed, or would be removed
        public var files: Int
        /// the total size of these files, in bytes
        public var bytes: Int
        /// when the oldest of these files arrived in the place
        @Omissible public var oldest: String?
        /// when the newest of these files arrived in the place
        @Omissible public var newest: String?
        /// the number of files that could not be removed
        public var refused: Int
        /// why the first of the `refused` files could not be removed
        @Omissible public var refusal: String?
        public init(place: String, files: Int, bytes: Int, oldest: String? = nil, newest: String? = nil, refused: Int, refusal: String? = nil) {
            (self.place, self.files, self.bytes, self.oldest, self.newest, self.refused, self.refusal) = (place, files, bytes, oldest, newest, refused, refusal)
        }
    }
    /// A disk that holds originals or results.
    public struct Disk: Codable, Sendable, Hashable {
        /// the path of a folder on the disk
        public var path: String
        /// the space that the daemon may fill, in bytes. It includes the space that is already used
        public var bytes: Int
        /// the number of these bytes that are still free
        public var free: Int
        public init(path: String, bytes: Int, free: Int) {
            (self.path, self.bytes, self.free) = (path, bytes, free)
        }
    }
    /// Another machine of the fleet.
    public struct Node: Codable, Sendable, Hashable {
        /// the machine's name
        public var name: String
        /// the version of pipelined on the machine
        public var version: String
        /// the maximum number of pictures that the machine takes from other machines at once
        public var places: Int
        /// the number of pictures from other machines that the machine has now
        public var taken: Int
        /// the number of the machine's own pictures that it has lent to other machines
        public var lent: Int
        /// the reasons why the machine can't render all pictures of this machine: the name of each missing filter,
        /// `NAME in this version` for a filter that it has in another version, or `pipelined VERSION` if it does not run
        /// this machine's version of pipelined
        @Omissible public var lacks: [String]
        public init(name: String, version: String, places: Int, taken: Int, lent: Int, lacks: [String] = []) {
            (self.name, self.version, self.places, self.taken, self.lent, self.lacks) = (name, version, places, taken, lent, lacks)
        }
    }
    /// This machine as a member of its fleet.
    public struct Fleet: Codable, Sendable, Hashable {
        /// this machine's name in the fleet
        public var name: String
        /// the server that this machine is connected to; null if it is not connected
        @Omissible public var server: String?
        /// why this machine takes no part in the fleet, or only a limited part
        @Omissible public var problem: String?
        /// the maximum number of pictures that this machine takes from other machines at once
        public var places: Int
        /// the number of pictures from other machines that this machine has now
        public var taken: Int
        /// the number of this machine's own pictures that it has lent to other machines
        public var lent: Int
        /// the other machines that have been seen recently
        @Omissible public var nodes: [Control.Node]
        /// the names of machines that have been seen before, but not recently
        @Omissible public var silent: [String]
        public init(name: String, server: String? = nil, problem: String? = nil, places: Int, taken: Int, lent: Int, nodes: [Control.Node] = [], silent: [String] = []) {
            (self.name, self.server, self.problem, self.places, self.taken, self.lent, self.nodes, self.silent) = (name, server, problem, places, taken, lent, nodes, silent)
        }
    }
    /// A queue of a machine of the fleet.
    public struct NodeQueue: Codable, Sendable, Hashable {
        /// the queue's name
        public var name: String
        /// the limit that was set; null means auto
        @Omissible public var configured: Int?
        /// the maximum number of operations that run at once
        public var effective: Int
        /// the number of operations that run
        public var running: Int
        /// whether the queue is paused
        public var paused: Bool
        /// the reason that was given for the pause
        @Omissible public var reason: String?
        public init(name: String, configured: Int? = nil, effective: Int, running: Int, paused: Bool, reason: String? = nil) {
            (self.name, self.configured, self.effective, self.running, self.paused, self.reason) = (name, configured, effective, running, paused, reason)
        }
    }
    /// A machine's answer to Command.
    public struct NodeAnswer: Codable, Sendable, Hashable {
        /// the machine's name
        public var node: String
        /// whether the machine has answered
        public var answered: Bool
        /// why the machine has not executed the command, if the reason is known; null if it has executed the command
        @Omissible public var error: String?
        /// the number of jobs that `cancel-all` has stopped on the machine
        @Omissible public var cancelled: Int?
        /// the machine's queues `download`, `render` and `publish` after the command
        @Omissible public var queues: [Control.NodeQueue]
        public init(node: String, answered: Bool, error: String? = nil, cancelled: Int? = nil, queues: [Control.NodeQueue] = []) {
            (self.node, self.answered, self.error, self.cancelled, self.queues) = (node, answered, error, cancelled, queues)
        }
    }
    /// A machine's answer to Ask.
    public struct NodeReply: Codable, Sendable, Hashable {
        /// the machine's name
        public var node: String
        /// whether the machine has answered
        public var answered: Bool
        /// why there is no reply; null if there is a reply
        @Omissible public var error: String?
        /// the call's reply as JSON; null if there is no reply
        @Omissible public var reply: String?
        public init(node: String, answered: Bool, error: String? = nil, reply: String? = nil) {
            (self.node, self.answered, self.error, self.reply) = (node, answered, error, reply)
        }
    }
    /// The result of checking a machine.
    public struct NodeCheck: Codable, Sendable, Hashable {
        /// the machine's name
        public var node: String
        /// `ok`, `silent`, `version` (the machine runs another version of pipelined), `full` (it had no free place),
        /// `refused`, `late` (it accepted the picture, but sent no result in time) or `failed`
        public var outcome: String
        /// the time from the offer until the machine accepted the picture, in milliseconds; null unless `outcome` is `ok`
        @Omissible public var accepted: Double?
        /// the time from the offer until the result arrived, in milliseconds; null unless `outcome` is `ok`
        @Omissible public var milliseconds: Double?
        /// what went wrong and what to do about it; null if `outcome` is `ok`
        @Omissible public var problem: String?
        /// as in Node
        @Omissible public var lacks: [String]
        public init(node: String, outcome: String, accepted: Double? = nil, milliseconds: Double? = nil, problem: String? = nil, lacks: [String] = []) {
            (self.node, self.outcome, self.accepted, self.milliseconds, self.problem, self.lacks) = (node, outcome, accepted, milliseconds, problem, lacks)
        }
    }
    /// The daemon's status.
    public struct Overview: Codable, Sendable, Hashable {
        /// the daemon's version
        public var version: String
        /// when the daemon started
        public var started: String
        /// the folder `DIR`, if the daemon was started as `pipelined --root DIR`
        @Omissible public var root: String?
        /// whether the daemon is stopping. It then takes nothing new, and ends when the running jobs have ended
        public var stopping: Bool
        /// the numbers of jobs by state
        public var jobs: Control.Jobs
        /// the reasons why jobs wait, the most frequent first
        @Omissible public var waiting: [Control.Waiting]
        /// all queues by name
        public var queues: [String: Control.Queue]
        /// all inboxes
        @Omissible public var inboxes: [Control.Inbox]
        /// the latest files that the inboxes leave alone
        @Omissible public var ignored: [Control.Ignored]
        /// the reasons why the inboxes leave files alone, the most frequent first. Beyond 20 reasons, the rarest are combined
        /// into one, `other reasons`
        @Omissible public var ignoredReasons: [Control.IgnoredReason]
        /// the number of render workers that are alive
        public var workers: Int
        /// the cursor of the latest event: `watch --since CURSOR` shows every event after it
        public var cursor: Int
        /// the problems that prevent the daemon from working normally
        @Omissible public var problems: [String]
        /// the files that jobs have left, by place; a place without files and without a rule is left out
        @Omissible public var kept: [Control.Kept]
        /// the size and the free space of the disks. The daemon's own disk is the first. A disk that does not answer is
        /// left out
        @Omissible public var disks: [Control.Disk]
        /// this machine and the other machines of its fleet; null if no fleet is configured
        @Omissible public var fleet: Control.Fleet?
        public init(version: String, started: String, root: String? = nil, stopping: Bool, jobs: Control.Jobs, waiting: [Control.Waiting] = [], queues: [String: Control.Queue], inboxes: [Control.Inbox] = [], ignored: [Control.Ignored] = [], ignoredReasons: [Control.IgnoredReason] = [], workers: Int, cursor: Int, problems: [String] = [], kept: [Control.Kept] = [], disks: [Control.Disk] = [], fleet: Control.Fleet? = nil) {
            (self.version, self.started, self.root, self.stopping, self.jobs, self.waiting, self.queues, self.inboxes, self.ignored, self.ignoredReasons, self.workers, self.cursor, self.problems, self.kept, self.disks, self.fleet) = (version, started, root, stopping, jobs, waiting, queues, inboxes, ignored, ignoredReasons, workers, cursor, problems, kept, disks, fleet)
        }
    }
    /// A picture file.
    public struct Picture: Codable, Sendable, Hashable {
        /// the format: `jpeg`, `png`, `webp`, …
        public var format: String
        /// the width of one frame, as stored, in pixels
        public var width: Int
        /// the height of one frame, as stored, in pixels
        public var height: Int
        /// the size of the file, in bytes
        public var bytes: Int
        /// the number of frames of an animation, or of pages or pictures in the file; null if it is unknown
        @Omissible public var pages: Int?
        public init(format: String, width: Int, height: Int, bytes: Int, pages: Int? = nil) {
            (self.format, self.width, self.height, self.bytes, self.pages) = (format, width, height, bytes, pages)
        }
    }
    public struct Job: Codable, Sendable, Hashable {
        /// the job's number, which is never used for another job
        public var id: Int
        /// the number of the batch that the job belongs to
        @Omissible public var batch: Int?
        /// the name of the recipe that the job goes through
        public var recipe: String
        /// the original's path in the inbox, or its name if it did not come from an inbox. A download is named after its
        /// URL until it has finished, and then has the name that its server gives
        public var input: String
        /// the URL that the original is downloaded from, with `…` in place of a user and password, and of the secrets in
        /// its query (`token=`, `key=`, `sig=`, `X-Amz-…`, …)
        @Omissible public var url: String?
        /// the state: `waiting`, `queued`, `running`, `cancelling`, `done`, `failed` or `cancelled`
        public var state: String
        /// for a waiting job, the reason why it waits, which is never null; for a queued job, the setting that holds it back,
        /// such as PerHost=, or null if nothing does; for an ended job, why its original has not been moved, or what was left
        /// out, for example a result whose name was taken
        @Omissible public var reason: String?
        /// the paths of the results, once they are published
        @Omissible public var outputs: [String]
        /// why the job, or the latest redo of a done job, has failed
        @Omissible public var error: String?
        /// when the job was created
        public var created: String
        /// when the job ended
        @Omissible public var finished: String?
        /// the original; null until its header has been read
        @Omissible public var before: Control.Picture?
        /// the published pictures, one for each path in `outputs`
        @Omissible public var after: [Control.Picture]
        /// the time from the start of the job's latest attempt to the job's end, in milliseconds
        @Omissible public var milliseconds: Double?
        /// the class of the job's latest failure: `input`, `transient`, `room`, `crash`, `timeout`, `configuration` or
        /// `dependency`. Null if the job has had no failure, or has succeeded since
        @Omissible public var failure: String?
        /// the number of transient failures so far
        public var setbacks: Int
        /// when the next attempt is due, if the job waits for one
        @Omissible public var due: String?
        /// `underway` while a done job is processed again; until that succeeds, `outputs` lists the earlier results.
        /// `failed` or `cancelled` if the latest redo has failed or was cancelled; the earlier results then remain
        @Omissible public var redo: String?
        /// the size of the original, in bytes; null until the download has finished
        @Omissible public var bytes: Int?
        public init(id: Int, batch: Int? = nil, recipe: String, input: String, url: String? = nil, state: String, reason: String? = nil, outputs: [String] = [], error: String? = nil, created: String, finished: String? = nil, before: Control.Picture? = nil, after: [Control.Picture] = [], milliseconds: Double? = nil, failure: String? = nil, setbacks: Int, due: String? = nil, redo: String? = nil, bytes: Int? = nil) {
            (self.id, self.batch, self.recipe, self.input, self.url, self.state, self.reason, self.outputs, self.error, self.created, self.finished, self.before, self.after, self.milliseconds, self.failure, self.setbacks, self.due, self.redo, self.bytes) = (id, batch, recipe, input, url, state, reason, outputs, error, created, finished, before, after, milliseconds, failure, setbacks, due, redo, bytes)
        }
    }
    /// Jobs with the same reason.
    public struct Tally: Codable, Sendable, Hashable {
        /// the reason or the remark that the jobs have in common
        public var reason: String
        /// the number of jobs
        public var jobs: Int
        /// the IDs of the first few jobs
        @Omissible public var first: [Int]
        public init(reason: String, jobs: Int, first: [Int] = []) {
            (self.reason, self.jobs, self.first) = (reason, jobs, first)
        }
    }
    /// An operation of a job.
    public struct Operation: Codable, Sendable, Hashable {
        /// the kind of operation: `download`, `render`, `publish`, `announce`, or `announce batch` at a barrier
        public var kind: String
        /// the name of the queue that the operation belongs to
        public var queue: String
        /// the state: `pending`, `ready`, `executing`, `finished`, `failed` or `cancelled`
        public var state: String
        /// when the operation started
        @Omissible public var started: String?
        /// when the operation ended
        @Omissible public var finished: String?
        /// more about the operation, in words; for a failed operation, the reason for its failure
        @Omissible public var detail: String?
        /// the number of the job's attempt that the operation belongs to, from 1
        public var attempt: Int
        /// the ID of the process that did the work
        @Omissible public var worker: Int?
        /// the number of bytes that were read
        @Omissible public var read: Int?
        /// the number of bytes that were written
        @Omissible public var written: Int?
        /// the class of the operation's failure, as in Job
        @Omissible public var failure: String?
        /// the progress of the operation; null unless the operation is executing and its progress is known
        @Omissible public var progress: Control.Progress?
        public init(kind: String, queue: String, state: String, started: String? = nil, finished: String? = nil, detail: String? = nil, attempt: Int, worker: Int? = nil, read: Int? = nil, written: Int? = nil, failure: String? = nil, progress: Control.Progress? = nil) {
            (self.kind, self.queue, self.state, self.started, self.finished, self.detail, self.attempt, self.worker, self.read, self.written, self.failure, self.progress) = (kind, queue, state, started, finished, detail, attempt, worker, read, written, failure, progress)
        }
    }
    /// The progress of a download, of a render, or of a batch.
    public struct Progress: Codable, Sendable, Hashable {
        /// the unit: `bytes` of a download, `pixels` of the picture that is rendered (each result counts all pixels of the
        /// picture), or `jobs` of a batch
        public var unit: String
        /// the number of units that are done; for a batch, the number of jobs that have ended, including failed and
        /// cancelled jobs
        public var done: Int
        /// the total number of units; null while it is unknown, for example because a server does not send it
        @Omissible public var total: Int?
        /// the fraction that is done, from 0 to 1. For a batch, the fraction also counts the work that is done for jobs that
        /// have not ended
        @Omissible public var fraction: Double?
        /// the recent number of units per second: in the last 5 seconds of a download, or in the last 30 seconds of a
        /// render or a batch. Null while it is unknown, for example during a pause
        @Omissible public var rate: Double?
        /// the remaining time at this rate, in seconds. It does not include work that waits for something else, such as its
        /// next attempt. Null while it is unknown, for example during a pause, and while the batch is open
        @Omissible public var remaining: Double?
        public init(unit: String, done: Int, total: Int? = nil, fraction: Double? = nil, rate: Double? = nil, remaining: Double? = nil) {
            (self.unit, self.done, self.total, self.fraction, self.rate, self.remaining) = (unit, done, total, fraction, rate, remaining)
        }
    }
    public struct JobProgress: Codable, Sendable, Hashable {
        /// the job
        public var job: Control.Job
        /// the progress of all operations of the job together, from 0 to 1
        public var fraction: Double
        /// the queue of the operation that is executing: `download`, `render` or `publish`; null between two operations
        @Omissible public var operation: String?
        /// the progress of the operation that is executing, if it is known
        @Omissible public var progress: Control.Progress?
        public init(job: Control.Job, fraction: Double, operation: String? = nil, progress: Control.Progress? = nil) {
            (self.job, self.fraction, self.operation, self.progress) = (job, fraction, operation, progress)
        }
    }
    public struct BatchProgress: Codable, Sendable, Hashable {
        /// the batch
        public var batch: Control.Batch
        /// the progress of the batch
        public var progress: Control.Progress
        public init(batch: Control.Batch, progress: Control.Progress) {
            (self.batch, self.progress) = (batch, progress)
        }
    }
    /// A job's whole history.
    public struct Story: Codable, Sendable, Hashable {
        /// the job
        public var job: Control.Job
        /// the chain of each output, by the name of the output; the name of the unnamed output is `""`
        public var chains: [String: String]
        /// the original's present path
        @Omissible public var original: String?
        /// the setting or the command that has removed the original, and the time of the removal
        @Omissible public var removed: String?
        /// the number of attempts that have begun
        public var tries: Int
        /// when the latest attempt began
        @Omissible public var started: String?
        /// a description of the picture according to its header
        @Omissible public var header: String?
        /// the picture's caption in a list with columns; the results have this caption in their metadata
        @Omissible public var caption: String?
        /// the picture's credit in a list with columns; the results have this credit in their metadata
        @Omissible public var credit: String?
        /// what to do about the failure, if the job has failed
        @Omissible public var advice: String?
        /// the operations that have begun, in all attempts, and the operations that are still to come. A long history
        /// contains only the latest operations
        @Omissible public var operations: [Control.Operation]
        /// the priority: `low`, `normal` or `high`
        public var priority: String
        /// the jobs that this job depends on
        public var after: Control.Neighbours
        /// the jobs that depend on this job
        public var followers: Control.Neighbours
        public init(job: Control.Job, chains: [String: String], original: String? = nil, removed: String? = nil, tries: Int, started: String? = nil, header: String? = nil, caption: String? = nil, credit: String? = nil, advice: String? = nil, operations: [Control.Operation] = [], priority: String, after: Control.Neighbours, followers: Control.Neighbours) {
            (self.job, self.chains, self.original, self.removed, self.tries, self.started, self.header, self.caption, self.credit, self.advice, self.operations, self.priority, self.after, self.followers) = (job, chains, original, removed, tries, started, header, caption, credit, advice, operations, priority, after, followers)
        }
    }
    /// All IDs from `first` to `last`, both included.
    public struct IDRange: Codable, Sendable, Hashable {
        /// the lowest ID
        public var first: Int
        /// the highest ID
        public var last: Int
        public init(first: Int, last: Int) {
            (self.first, self.last) = (first, last)
        }
    }
    /// The jobs that a job depends on, or the jobs that depend on it.
    public struct Neighbours: Codable, Sendable, Hashable {
        /// the first hundred jobs, by ID
        @Omissible public var jobs: [Control.Neighbour]
        /// the total number of jobs
        public var count: Int
        public init(jobs: [Control.Neighbour] = [], count: Int) {
            (self.jobs, self.count) = (jobs, count)
        }
    }
    public struct Neighbour: Codable, Sendable, Hashable {
        /// the job's ID
        public var id: Int
        /// the job's state; null if the job has been forgotten
        @Omissible public var state: String?
        public init(id: Int, state: String? = nil) {
            (self.id, self.state) = (id, state)
        }
    }
    /// The jobs of one list, of one dropped folder, or of one NewBatch.
    public struct Batch: Codable, Sendable, Hashable {
        /// the batch's number
        public var id: Int
        /// the name of the list or the folder, or the name given to NewBatch; several batches may have the same name
        @Omissible public var name: String?
        /// whether jobs may still be added. While this is true, no job of the batch passes a barrier
        public var open: Bool
        /// the number of jobs of the batch in the state `waiting`
        public var waiting: Int
        /// the number of jobs of the batch in the state `queued`
        public var queued: Int
        /// the number of jobs of the batch in the state `running`
        public var running: Int
        /// the number of jobs of the batch in the state `cancelling`
        public var cancelling: Int
        /// the number of jobs of the batch in the state `done`
        public var done: Int
        /// the number of jobs of the batch in the state `failed`
        public var failed: Int
        /// the number of jobs of the batch in the state `cancelled`
        public var cancelled: Int
        /// when the batch began
        @Omissible public var created: String?
        /// when the last of the jobs was over; null until then, and again after a job has been retried
        @Omissible public var ended: String?
        /// the recipe of the first job; null before the first job. The other jobs have the same recipe unless a client has
        /// mixed recipes
        @Omissible public var recipe: String?
        public init(id: Int, name: String? = nil, open: Bool, waiting: Int, queued: Int, running: Int, cancelling: Int, done: Int, failed: Int, cancelled: Int, created: String? = nil, ended: String? = nil, recipe: String? = nil) {
            (self.id, self.name, self.open, self.waiting, self.queued, self.running, self.cancelling, self.done, self.failed, self.cancelled, self.created, self.ended, self.recipe) = (id, name, open, waiting, queued, running, cancelling, done, failed, cancelled, created, ended, recipe)
        }
    }
    public struct Event: Codable, Sendable, Hashable {
        /// the event's position in the event log; every event has a larger cursor than the event before
        public var cursor: Int
        /// when the event happened
        public var time: String
        /// `job`: the job's state has changed. `published`: the job's results are in the outbox, and are durable.
        /// `picture`: the job is done, and its original is in its final folder; nothing is left to do for the job. `over`:
        /// the job, or the redo of a done job, has failed or was cancelled, and its original is in its final folder; a job
        /// without an original has no such event. `priority`: the job has a new priority, which is `text`. `removed`: the job's
        /// original or one of its results was removed, as `text` says. `batch`: if `text` is `arrived`, all unfinished jobs of
        /// the batch are at a barrier; if `text` is `ended`, all jobs of the batch are over. `queue` or `settings`: the queue
        /// or the settings have changed. `lost`: the log no longer contains some events before `cursor`
        public var kind: String
        /// the job, with the state and the `reason` or `error` that it had at the time of the event; all other fields are
        /// current
        @Omissible public var job: Control.Job?
        /// the batch, as it is now
        @Omissible public var batch: Control.Batch?
        /// the name of the queue
        @Omissible public var queue: String?
        /// more about the event, in words, for example why a job has failed, even if it has been retried since
        @Omissible public var text: String?
        /// the path of the job's original; null until the original is in its final folder
        @Omissible public var original: String?
        /// what to do about a failure
        @Omissible public var advice: String?
        /// the paths of all results of a batch that has ended, in the order of its jobs. Only hooks receive it; in the
        /// events of Watch it is null
        @Omissible public var outputs: [String]?
        public init(cursor: Int, time: String, kind: String, job: Control.Job? = nil, batch: Control.Batch? = nil, queue: String? = nil, text: String? = nil, original: String? = nil, advice: String? = nil, outputs: [String]? = nil) {
            (self.cursor, self.time, self.kind, self.job, self.batch, self.queue, self.text, self.original, self.advice, self.outputs) = (cursor, time, kind, job, batch, queue, text, original, advice, outputs)
        }
    }
    public struct PlannedOperation: Codable, Sendable, Hashable {
        /// as in Operation
        public var kind: String
        /// the name of the queue that the operation would go to
        public var queue: String
        /// a description of the operation, in words
        public var does: String
        public init(kind: String, queue: String, does: String) {
            (self.kind, self.queue, self.does) = (kind, queue, does)
        }
    }
    /// How a worker would read the pixels for an output or a tee.
    public struct Decoding: Codable, Sendable, Hashable {
        /// the name of the output or of the tee
        @Omissible public var output: String?
        /// how the pixels are read, and why, for example `jpeg, greyscale, 1/2, own decoder (noir needs luma only)`
        public var path: String
        /// the reason why the output makes no result of this picture, for example `rating 2 is below 3`; null if it makes a
        /// result
        @Omissible public var unwanted: String?
        public init(output: String? = nil, path: String, unwanted: String? = nil) {
            (self.output, self.path, self.unwanted) = (output, path, unwanted)
        }
    }
    /// The name of the result of an output or of a tee.
    public struct ResultName: Codable, Sendable, Hashable {
        /// the name of the output or of the tee
        @Omissible public var output: String?
        /// the path of the result. A field of `Name=` whose value is not known yet appears unchanged, for example as
        /// `{counter:4}`. In a Recipe, this is the text of `Name=`
        public var name: String
        public init(output: String? = nil, name: String) {
            (self.output, self.name) = (output, name)
        }
    }
    public struct Explanation: Codable, Sendable, Hashable {
        /// the name of the recipe that takes the file; null if no recipe takes it, or for a chain
        @Omissible public var recipe: String?
        /// why the recipe takes the file, why no recipe takes it, or why the job is not running
        public var why: String
        /// as in Story
        public var chains: [String: String]
        /// the planned operations; empty if nothing would be done, for example because the file is ignored or unreadable,
        /// or because its job has ended
        @Omissible public var operations: [Control.PlannedOperation]
        /// the job of the file. The file may also be an original in `failed/`, `archive/` or `cancelled/`, or the text
        /// beside an original
        @Omissible public var job: Control.Job?
        /// a description of the picture according to its header, including which of several frames or pages is taken; null
        /// if the file could not be opened or read
        @Omissible public var picture: String?
        /// how a worker would read the picture for each output; empty if `picture` is null
        @Omissible public var decode: [Control.Decoding]
        /// why `picture` is null although the file could be opened
        @Omissible public var problem: String?
        /// the path of each result; empty if nothing would be made, or for a chain without a file
        @Omissible public var names: [Control.ResultName]
        /// the date in `names`, and the source of that date
        @Omissible public var date: String?
        public init(recipe: String? = nil, why: String, chains: [String: String], operations: [Control.PlannedOperation] = [], job: Control.Job? = nil, picture: String? = nil, decode: [Control.Decoding] = [], problem: String? = nil, names: [Control.ResultName] = [], date: String? = nil) {
            (self.recipe, self.why, self.chains, self.operations, self.job, self.picture, self.decode, self.problem, self.names, self.date) = (recipe, why, chains, operations, job, picture, decode, problem, names, date)
        }
    }
    /// A result of Try.
    public struct Proof: Codable, Sendable, Hashable {
        /// the name of the recipe that was tried; null for a chain alone
        @Omissible public var recipe: String?
        /// the name of the output or of the tee
        @Omissible public var output: String?
        /// the chain of the output; for a tee, the chain that contains the tee
        public var chain: String
        /// the usual suffix of a file with the result's format: `jpg`, `webp`, …; null if the format is unknown, as for
        /// `format=same` with `sheet`
        @Omissible public var suffix: String?
        /// the result, or on a sheet its small picture; null if no result could be made
        @Omissible public var picture: Control.Picture?
        /// how the pixels were read, as in Decoding
        @Omissible public var decode: String?
        /// the time that all results of the recipe took together, in milliseconds
        @Omissible public var milliseconds: Double?
        /// why no result could be made
        @Omissible public var problem: String?
        public init(recipe: String? = nil, output: String? = nil, chain: String, suffix: String? = nil, picture: Control.Picture? = nil, decode: String? = nil, milliseconds: Double? = nil, problem: String? = nil) {
            (self.recipe, self.output, self.chain, self.suffix, self.picture, self.decode, self.milliseconds, self.problem) = (recipe, output, chain, suffix, picture, decode, milliseconds, problem)
        }
    }
    public struct Recipe: Codable, Sendable, Hashable {
        /// the recipe's name
        public var name: String
        /// the recipe's own description
        @Omissible public var description: String?
        /// the path of the file that contains the recipe; null if the recipe is built in
        @Omissible public var file: String?
        /// the path of the inbox, if the recipe has one
        @Omissible public var inbox: String?
        /// the path of the folder for the results
        public var outbox: String
        /// the patterns of the file names that the recipe takes
        @Omissible public var match: [String]
        /// the rule for the original of a done job: `archive`, `delete` or `keep`
        public var original: String
        /// the rule for a result whose name is taken: `number`, `replace` or `skip`
        public var conflict: String
        /// the rule for a picture whose end is missing: `fail` or `accept`
        public var onTruncated: String
        /// the priority of the recipe's jobs: `low`, `normal` or `high`
        public var priority: String
        /// as in Story
        public var chains: [String: String]
        /// why the recipe takes nothing now
        @Omissible public var problem: String?
        /// the program to run for the events in `hookOn`
        @Omissible public var hook: String?
        /// the events that run `hook`: some of `done`, `failed`, `cancelled`, `arrived` and `batch`
        @Omissible public var hookOn: [String]
        /// the total number of runs of `hook` that have failed
        public var hookFailures: Int
        /// the text of `Name=` for each output that has one
        @Omissible public var names: [Control.ResultName]
        /// how a camera's raw file is read: `preview` or `develop`; null from an older daemon
        @Omissible public var raw: String?
        /// whether other machines may render the recipe's pictures: `yes` or `no`; null from an older daemon
        @Omissible public var fleet: String?
        /// the recipe's weight: the number of turns that it gets for each turn of a recipe with `Share=1`; null from an older
        /// daemon
        @Omissible public var share: Int?
        /// whether a client has made the recipe, so that SaveRecipe and RemoveRecipe may change it; null from an older daemon
        @Omissible public var own: Bool?
        /// the local times of day at which the recipe's pictures may begin, as in `Hours=`; null if they always may
        @Omissible public var hours: String?
        /// the text of `When=` for each output that has one, keyed as `chains`; null from an older daemon
        @Omissible public var conditions: [String: String]?
        /// whether this is the default recipe, which applies if no recipe is named, for example to pictures directly in
        /// `inbox/`; null from an older daemon
        @Omissible public var isDefault: Bool?
        public init(name: String, description: String? = nil, file: String? = nil, inbox: String? = nil, outbox: String, match: [String] = [], original: String, conflict: String, onTruncated: String, priority: String, chains: [String: String], problem: String? = nil, hook: String? = nil, hookOn: [String] = [], hookFailures: Int, names: [Control.ResultName] = [], raw: String? = nil, fleet: String? = nil, share: Int? = nil, own: Bool? = nil, hours: String? = nil, conditions: [String: String]? = nil, isDefault: Bool? = nil) {
            (self.name, self.description, self.file, self.inbox, self.outbox, self.match, self.original, self.conflict, self.onTruncated, self.priority, self.chains, self.problem, self.hook, self.hookOn, self.hookFailures, self.names, self.raw, self.fleet, self.share, self.own, self.hours, self.conditions, self.isDefault) = (name, description, file, inbox, outbox, match, original, conflict, onTruncated, priority, chains, problem, hook, hookOn, hookFailures, names, raw, fleet, share, own, hours, conditions, isDefault)
        }
    }
    public struct OutputDraft: Codable, Sendable, Hashable {
        /// the output's name; null for the output without a name
        @Omissible public var name: String?
        /// the chain
        public var chain: String
        /// the name template for the results, as in `Name=`; null for the default names
        @Omissible public var naming: String?
        public init(name: String? = nil, chain: String, naming: String? = nil) {
            (self.name, self.chain, self.naming) = (name, chain, naming)
        }
    }
    public struct Parameter: Codable, Sendable, Hashable {
        /// the name, as written in a chain
        public var name: String
        /// the type: `number`, `integer`, `boolean`, `choice`, `colour`, `text` or `file`
        public var type: String
        /// the smallest value of the range
        @Omissible public var minimum: Double?
        /// the largest value of the range
        @Omissible public var maximum: Double?
        /// the value that applies if the parameter is left out
        @Omissible public var `default`: String?
        /// whether the parameter must be given
        public var required: Bool
        /// the values of a `choice`, or the files that a `file` may name now
        @Omissible public var choices: [String]
        /// the unit of the number
        @Omissible public var unit: String?
        /// a description in one line
        public var help: String
        public init(name: String, type: String, minimum: Double? = nil, maximum: Double? = nil, `default`: String? = nil, required: Bool, choices: [String] = [], unit: String? = nil, help: String) {
            (self.name, self.type, self.minimum, self.maximum, self.`default`, self.required, self.choices, self.unit, self.help) = (name, type, minimum, maximum, `default`, required, choices, unit, help)
        }
    }
    public struct Stage: Codable, Sendable, Hashable {
        /// the name, as written in a chain
        public var name: String
        /// a description in one line
        public var summary: String
        /// the version of the plugin
        @Omissible public var version: String?
        /// the author of the plugin
        @Omissible public var author: String?
        /// the path of the plugin; null if the stage is built in
        @Omissible public var file: String?
        /// `built in`, `loaded`, `older` (the file has changed, and the new version is left out) or `waiting` (all work
        /// that needs the stage waits)
        public var state: String
        /// why the state is `older` or `waiting`
        @Omissible public var reason: String?
        /// the traits: some of `luma only`, `pointwise`, `changes size`, `curve`, `draws text`, `whole picture`, `moves pixels`,
        /// `keeps gain map` and `reads texts`
        @Omissible public var traits: [String]
        /// the parameters of the stage
        @Omissible public var parameters: [Control.Parameter]
        /// the names of parameters of which a chain must give at least one; an empty list means no such rule
        @Omissible public var atLeastOneOf: [String]
        /// the names of parameters of which a chain may give at most one; an empty list means no such rule
        @Omissible public var atMostOneOf: [String]
        public init(name: String, summary: String, version: String? = nil, author: String? = nil, file: String? = nil, state: String, reason: String? = nil, traits: [String] = [], parameters: [Control.Parameter] = [], atLeastOneOf: [String] = [], atMostOneOf: [String] = []) {
            (self.name, self.summary, self.version, self.author, self.file, self.state, self.reason, self.traits, self.parameters, self.atLeastOneOf, self.atMostOneOf) = (name, summary, version, author, file, state, reason, traits, parameters, atLeastOneOf, atMostOneOf)
        }
    }
    public struct SkippedPlugin: Codable, Sendable, Hashable {
        /// the path of the plugin
        public var file: String
        /// why the plugin was skipped
        public var reason: String
        public init(file: String, reason: String) {
            (self.file, self.reason) = (file, reason)
        }
    }
    public struct Setting: Codable, Sendable, Hashable {
        /// the section that the setting belongs to, such as `Queues`
        public var section: String
        /// the name of the setting in its section, such as `Render`
        public var key: String
        /// the value in force now
        public var value: String
        /// the default value
        public var `default`: String
        /// the file that the value comes from, `default`, or `pipectl` for a change that lasts until the restart
        public var source: String
        /// a description in one line
        public var help: String
        public init(section: String, key: String, value: String, `default`: String, source: String, help: String) {
            (self.section, self.key, self.value, self.`default`, self.source, self.help) = (section, key, value, `default`, source, help)
        }
    }
    public struct Problem: Codable, Sendable, Hashable {
        /// the path of the file with the mistake
        public var file: String
        /// the number of the line with the mistake
        @Omissible public var line: Int?
        /// a description of the mistake, with a suggestion if there is one
        public var message: String
        public init(file: String, line: Int? = nil, message: String) {
            (self.file, self.line, self.message) = (file, line, message)
        }
    }
    /// A metric for monitoring. Counters and histograms begin when the daemon starts.
    public struct Metric: Codable, Sendable, Hashable {
        /// the name, which begins with `pipelined_`. The name of a counter lacks the suffix `_total`, which the text
        /// formats add
        public var name: String
        /// `counter`, `gauge` or `histogram`
        public var kind: String
        /// a description in one sentence
        public var help: String
        /// one sample for each set of labels
        @Omissible public var samples: [Control.Sample]
        public init(name: String, kind: String, help: String, samples: [Control.Sample] = []) {
            (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
        }
    }
    public struct Sample: Codable, Sendable, Hashable {
        /// the values of the labels by their names, for example a recipe, a queue or a state; never a path or an ID
        public var labels: [String: String]
        /// the value; for a histogram, the sum of the observed values
        public var value: Double
        /// for a histogram, the number of observed values
        @Omissible public var count: Int?
        /// the buckets of a histogram
        @Omissible public var buckets: [Control.Bucket]
        public init(labels: [String: String], value: Double, count: Int? = nil, buckets: [Control.Bucket] = []) {
            (self.labels, self.value, self.count, self.buckets) = (labels, value, count, buckets)
        }
    }
    public struct Bucket: Codable, Sendable, Hashable {
        /// the largest value that the bucket counts
        public var most: Double
        /// the number of observed values that are at most `most`
        public var count: Int
        public init(most: Double, count: Int) {
            (self.most, self.count) = (most, count)
        }
    }
}
public enum Call {
    public struct Status: ControlCall {
        public static let method = "org.pipelined.Control.Status"
        public static let parameterNames: [String] = []
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var status: Control.Overview
            public init(status: Control.Overview) {
                (self.status) = (status)
            }
        }
    }
    /// Metrics for monitoring. No label contains a path or an ID.
    public struct Metrics: ControlCall {
        public static let method = "org.pipelined.Control.Metrics"
        public static let parameterNames: [String] = []
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var metrics: [Control.Metric]
            public init(metrics: [Control.Metric] = []) {
                (self.metrics) = (metrics)
            }
        }
    }
    /// The reasons why jobs wait, the most frequent first: for the jobs with these IDs, for the jobs of a batch, or for
    /// all jobs. Only Status counts the files that are still settling in an inbox. If there are many reasons, the rarest
    /// are combined into one, `other reasons`.
    public struct WhyWaiting: ControlCall {
        public static let method = "org.pipelined.Control.WhyWaiting"
        public static let parameterNames: [String] = ["ids", "batch"]
        @Omissible public var ids: [Int]
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
    /// The files that the inboxes leave alone, sorted by path, each with the reason. `recipe` restricts the reply to the
    /// files of that recipe's inbox, and `after` to files after that path. A call without `more` gets a single reply of at
    /// most 500 files; `isPart` tells whether there are further files. With `more`, several replies contain all of them.
    public struct ListIgnored: ControlCall {
        public static let method = "org.pipelined.Control.ListIgnored"
        public static let parameterNames: [String] = ["recipe", "after"]
        @Omissible public var recipe: String?
        @Omissible public var after: String?
        public init(recipe: String? = nil, after: String? = nil) {
            (self.recipe, self.after) = (recipe, after)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var ignored: [Control.Ignored]
            @Omissible public var isPart: Bool?
            public init(ignored: [Control.Ignored] = [], isPart: Bool? = nil) {
                (self.ignored, self.isPart) = (ignored, isPart)
            }
        }
    }
    /// Jobs by ID, oldest first. Empty lists and null mean no restriction; `limit` selects the newest jobs. A call without
    /// `more` gets a single reply of at most 500 jobs; `isPart` tells whether further jobs meet the conditions, including
    /// older jobs beyond `limit`. With `more`, several replies contain all selected jobs.
    /// `since` and `until` apply to the time when a job ended, or, if it has not ended, to the time when it was created.
    /// Either is a time, or an age such as 1h.
    /// `before` restricts the reply to jobs with a lower ID. To go back page by page, call List with `limit`, and with the
    /// lowest ID of the preceding page as `before`.
    public struct List: ControlCall {
        public static let method = "org.pipelined.Control.List"
        public static let parameterNames: [String] = ["states", "recipe", "batch", "limit", "since", "until", "before"]
        @Omissible public var states: [String]
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
            @Omissible public var isPart: Bool?
            public init(jobs: [Control.Job] = [], isPart: Bool? = nil) {
                (self.jobs, self.isPart) = (jobs, isPart)
            }
        }
    }
    /// The IDs of the jobs that List would return for the same conditions, oldest first. A queued job counts as waiting
    /// while its queue starts nothing.
    public struct ListIDs: ControlCall {
        public static let method = "org.pipelined.Control.ListIDs"
        public static let parameterNames: [String] = ["states", "recipe", "batch", "since", "until"]
        @Omissible public var states: [String]
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
    /// Batches by number, oldest first. `name` restricts the reply to batches of that name. `limit` selects the newest
    /// batches, and also all batches that have not ended. A call without `more` gets a single reply of at most 500 batches;
    /// `isPart` tells whether there are further batches, including older batches beyond `limit`. With `more`, several
    /// replies contain all selected batches.
    public struct Batches: ControlCall {
        public static let method = "org.pipelined.Control.Batches"
        public static let parameterNames: [String] = ["name", "limit"]
        @Omissible public var name: String?
        @Omissible public var limit: Int?
        public init(name: String? = nil, limit: Int? = nil) {
            (self.name, self.limit) = (name, limit)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var batches: [Control.Batch]
            @Omissible public var isPart: Bool?
            public init(batches: [Control.Batch] = [], isPart: Bool? = nil) {
                (self.batches, self.isPart) = (batches, isPart)
            }
        }
    }
    /// Finds the batch with this number, or else the newest batch with this name. `others` is the number of further
    /// batches with this name. The call also finds a dropped folder whose files are still settling in an inbox. It then
    /// creates the folder's batch.
    public struct FindBatch: ControlCall {
        public static let method = "org.pipelined.Control.FindBatch"
        public static let parameterNames: [String] = ["batch"]
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
        public static let parameterNames: [String] = ["id"]
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
    /// Opens a picture of a job. The reply carries a descriptor, opened for reading. The picture is the result with the
    /// number `result`, counted from 1, or without `result` the original, wherever it is now. The call fails if somebody has
    /// changed the file.
    /// With `width`, from 1 to \(largePreview), the descriptor is a preview: a WebP whose longer side has at most
    /// \(smallPreview) pixels if `width` is not larger than that, and at most \(largePreview) otherwise. A picture that is
    /// already small enough is returned unchanged. The daemon renders a preview when jobs leave a worker free, which may take
    /// a while. It drops the request when the client disconnects. `name` has the suffix of the returned file.
    public struct Open: ControlCall {
        public static let method = "org.pipelined.Control.Open"
        public static let parameterNames: [String] = ["id", "result", "width"]
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
    /// The latest events of a job, at most a thousand, oldest first. HistoryEvents= limits how many the daemon keeps.
    public struct Log: ControlCall {
        public static let method = "org.pipelined.Control.Log"
        public static let parameterNames: [String] = ["id"]
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
    /// Explains what the daemon would do with a file, with a chain, or with a file and a chain. `raw` is as in Add. If
    /// the call carries a descriptor of the file, opened for reading, a worker also reads the file's header.
    public struct Explain: ControlCall {
        public static let method = "org.pipelined.Control.Explain"
        public static let parameterNames: [String] = ["file", "chain", "raw"]
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
    /// Renders a picture without making a job. The call carries one descriptor, of the picture. The daemon renders the
    /// outputs of these recipes and these chains, at most \(mostProofs) results in all; if both lists are empty, it uses the
    /// default recipe. The reply carries a descriptor for each proof that has a picture, in the order of the proofs. Read
    /// each descriptor from offset 0, because its current position may be different.
    /// With `sheet`, a format (jpeg, png or webp), the reply carries one descriptor instead: a sheet that shows the
    /// picture and its results side by side, each at most \(sheetEdge) pixels wide and high. `before` describes the
    /// picture that was passed. `raw` is as in Add. The daemon stops rendering when the client disconnects.
    public struct Try: ControlCall {
        public static let method = "org.pipelined.Control.Try"
        public static let parameterNames: [String] = ["name", "recipes", "chains", "sheet", "raw"]
        public var name: String
        @Omissible public var recipes: [String]
        @Omissible public var chains: [String]
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
    /// Adds a picture. The call carries one descriptor, of the picture; send no other call in the same message. The
    /// daemon has copied the picture when it replies.
    /// Calls with the same `batch`, a number from NewBatch, belong together. Jobs of a batch wait at a barrier until
    /// the batch is closed, by CloseBatch or because the client that called NewBatch disconnects.
    /// `after` and `anyway` are as in Depend. `priority` is as in Prioritise; by default it is the recipe's. `folder`
    /// is a relative path in the outbox for the results. `raw` is only allowed with a chain. It says how to read a
    /// camera's raw file: `preview` (the default) or `develop`.
    public struct Add: ControlCall {
        public static let method = "org.pipelined.Control.Add"
        public static let parameterNames: [String] = ["name", "recipe", "chain", "batch", "after", "anyway", "priority", "folder", "raw"]
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
    /// Creates a file for a picture of this size, for clients that can't store it themselves. The reply carries the
    /// descriptor of an empty, unnamed file, opened for reading and writing, on the disk to which Add copies pictures.
    /// The file disappears when its last descriptor is closed.
    public struct NewFile: ControlCall {
        public static let method = "org.pipelined.Control.NewFile"
        public static let parameterNames: [String] = ["bytes"]
        public var bytes: Int
        public init(bytes: Int) {
            (self.bytes) = (bytes)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public init() {}
        }
    }
    /// Returns the files that an inbox of the recipe would leave alone because of their names, with the reasons. With a
    /// chain, or without a recipe, the call applies the rules that `Add` would apply.
    public struct Sift: ControlCall {
        public static let method = "org.pipelined.Control.Sift"
        public static let parameterNames: [String] = ["names", "recipe", "chain"]
        @Omissible public var names: [String]
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
    /// Adds URLs. The call carries the descriptor of a list with one URL per line, or of a browser's shortcut if `name` ends
    /// in `.url`. A list is a table if `name` ends in `.csv` or `.tsv`, or if its first line names a column `url`; the other
    /// columns may be `name`, `caption`, `credit` and `recipe`. The new jobs have the IDs from `first` to `last`, and are
    /// recorded in one transaction. Without `batch`, they get a new batch. A line that is not a URL, or a row with a mistake,
    /// becomes a failed job.
    public struct AddList: ControlCall {
        public static let method = "org.pipelined.Control.AddList"
        public static let parameterNames: [String] = ["name", "recipe", "chain", "batch", "after", "anyway", "priority", "raw"]
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
    /// Adds URLs like AddList, for clients that can't pass a descriptor. If any URL is invalid, the call adds none of them.
    public struct AddUrls: ControlCall {
        public static let method = "org.pipelined.Control.AddUrls"
        public static let parameterNames: [String] = ["urls", "recipe", "chain", "batch", "after", "anyway", "priority", "raw"]
        @Omissible public var urls: [String]
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
    /// Creates a batch that is open for Add, AddList and AddUrls. A name has 1 to 255 bytes. The batch is closed by
    /// CloseBatch, or when the client disconnects.
    public struct NewBatch: ControlCall {
        public static let method = "org.pipelined.Control.NewBatch"
        public static let parameterNames: [String] = ["name"]
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
        public static let parameterNames: [String] = ["batch"]
        public var batch: Int
        public init(batch: Int) {
            (self.batch) = (batch)
        }
        public struct Reply: Codable, Sendable, Hashable {
            public init() {}
        }
    }
    /// Waits until jobs are over: the jobs with these IDs, all jobs of a batch, or, without either, all jobs. A job is
    /// over when it has ended and its original is in its final folder. The call requires `more`: a reply reports jobs
    /// as soon as they are over, and the last reply means that none of them is left.
    /// `waitsFor` is the reason why originals can't be moved, for example a disk that is full or does not answer. It is
    /// sent when it changes, and is null when nothing delays the moves.
    public struct Wait: ControlCall {
        public static let method = "org.pipelined.Control.Wait"
        public static let parameterNames: [String] = ["ids", "batch"]
        @Omissible public var ids: [Int]
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
    /// Returns the events after the cursor; with `more`, continues with new events. Without a cursor, returns only new
    /// events.
    public struct Watch: ControlCall {
        public static let method = "org.pipelined.Control.Watch"
        public static let parameterNames: [String] = ["cursor"]
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
    /// Reports the progress of unfinished batches, of all jobs without a batch together (`others`), and of the jobs in
    /// progress. `done` in `others` counts the jobs that have ended; it returns to 0 when no job without a batch is in
    /// progress any more. `batches` and `jobs` contain at most \(mostProgress) entries each; `unfinished` and `running`
    /// count all batches and jobs. With `batch`, the call reports only that batch. With `more`, it reports each change,
    /// at most \(progressRate) times per second, and finishes when the batch has ended.
    public struct Progress: ControlCall {
        public static let method = "org.pipelined.Control.Progress"
        public static let parameterNames: [String] = ["batch"]
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
    /// Cancels jobs. At least one ID is required.
    public struct Cancel: ControlCall {
        public static let method = "org.pipelined.Control.Cancel"
        public static let parameterNames: [String] = ["ids"]
        @Omissible public var ids: [Int]
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
    /// Cancels all jobs. Replies when none of them runs any more.
    public struct CancelAll: ControlCall {
        public static let method = "org.pipelined.Control.CancelAll"
        public static let parameterNames: [String] = []
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var cancelled: Int
            public init(cancelled: Int) {
                (self.cancelled) = (cancelled)
            }
        }
    }
    /// Cancels jobs of a batch, of a recipe, or in one of these states. At least one condition is required, and a job
    /// must match all conditions that are given.
    public struct CancelMatching: ControlCall {
        public static let method = "org.pipelined.Control.CancelMatching"
        public static let parameterNames: [String] = ["batch", "recipe", "states"]
        @Omissible public var batch: Int?
        @Omissible public var recipe: String?
        @Omissible public var states: [String]
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
    /// Changes the dependencies of a job that has not begun: adds the jobs in `after`, and removes the jobs in `remove`. If a
    /// dependency fails or is cancelled, the job fails too, unless `anyway` is set.
    public struct Depend: ControlCall {
        public static let method = "org.pipelined.Control.Depend"
        public static let parameterNames: [String] = ["id", "after", "remove", "anyway"]
        public var id: Int
        @Omissible public var after: [Int]
        @Omissible public var remove: [Int]
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
    /// Sets the priority (low, normal or high) of jobs that have not begun: of the jobs with these IDs, or of the jobs
    /// of a batch.
    public struct Prioritise: ControlCall {
        public static let method = "org.pipelined.Control.Prioritise"
        public static let parameterNames: [String] = ["ids", "batch", "priority"]
        @Omissible public var ids: [Int]
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
    /// Retries failed or cancelled jobs: the jobs with these IDs, or all jobs in these states (failed, cancelled or
    /// waiting). A waiting job whose next attempt is due later is tried at once. With a batch and without IDs, the call
    /// retries only jobs of that batch: its jobs in these states, or its failed and cancelled jobs if `states` is
    /// empty. At least one ID, one state or a batch is required.
    public struct Retry: ControlCall {
        public static let method = "org.pipelined.Control.Retry"
        public static let parameterNames: [String] = ["ids", "states", "batch"]
        @Omissible public var ids: [Int]
        @Omissible public var states: [String]
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
    /// Removes files that jobs have left in these places, oldest first. With `older`, it removes the files that arrived
    /// before that time or age, as in `since` of List. With `most`, such as 200G, it removes the oldest files until at
    /// most this many bytes are left. With both, it removes the files that meet either condition. Without either, it
    /// removes all files. With a recipe, all this applies only to files of that recipe. With `trial`, the call only
    /// counts the files. It never removes a file that somebody has changed.
    public struct Clean: ControlCall {
        public static let method = "org.pipelined.Control.Clean"
        public static let parameterNames: [String] = ["places", "older", "most", "recipe", "trial"]
        @Omissible public var places: [String]
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
    /// Forgets jobs that are over: the jobs with these IDs, or all jobs in these states. A recipe and `older` restrict
    /// the choice to jobs of that recipe, and to jobs that ended before that time. The files of a forgotten job remain,
    /// but the daemon no longer knows them. It does not forget a job whose original stays in an inbox, because the
    /// inbox would take that file again; `left` is the number of such jobs.
    public struct Forget: ControlCall {
        public static let method = "org.pipelined.Control.Forget"
        public static let parameterNames: [String] = ["ids", "states", "recipe", "older"]
        @Omissible public var ids: [Int]
        @Omissible public var states: [String]
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
    /// Processes done jobs again, with the present version of their recipe: the jobs with these IDs, the jobs that
    /// match all given conditions, or, with `all`, every done job. `path` is an original in an archive, or a folder
    /// that contains originals; `since` is as in List. The earlier results remain until new results replace them. A
    /// result that somebody has changed remains in any case, beside the new one.
    /// `refused` counts the jobs that can't be processed again, by reason. `unknown` counts the files at `path` that
    /// are not the original of any job. With `check`, the call changes nothing: `jobs` are the jobs that could be
    /// processed again, and `remarks` are about some of them.
    public struct Redo: ControlCall {
        public static let method = "org.pipelined.Control.Redo"
        public static let parameterNames: [String] = ["ids", "batch", "recipe", "since", "path", "all", "check"]
        @Omissible public var ids: [Int]
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
    /// Undoes done jobs: removes their results, sets their state to cancelled, and moves their originals to
    /// `cancelled/`, or to the folder `to`. An original that its recipe keeps in the inbox stays there, and a result
    /// that somebody has changed stays in the outbox. The call replies when all this has happened, but does not wait
    /// for originals that can't be moved. The conditions are as in Redo.
    public struct Undo: ControlCall {
        public static let method = "org.pipelined.Control.Undo"
        public static let parameterNames: [String] = ["ids", "batch", "recipe", "since", "to", "check"]
        @Omissible public var ids: [Int]
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
    /// Pauses a queue, or without `queue` all of download, render and publish. Replies when these queues start nothing
    /// new.
    public struct Pause: ControlCall {
        public static let method = "org.pipelined.Control.Pause"
        public static let parameterNames: [String] = ["queue", "reason"]
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
        public static let parameterNames: [String] = ["queue"]
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
    /// Sets the limit of a queue, or without `queue` the limit of render, to a number or to `auto`. With 0, running
    /// operations finish, and no new operation starts. With `save`, the limit also applies after a restart. Without `limit`,
    /// the call changes nothing.
    public struct Concurrency: ControlCall {
        public static let method = "org.pipelined.Control.Concurrency"
        public static let parameterNames: [String] = ["queue", "limit", "save"]
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
    /// Pauses download and render. Replies when all jobs in progress are published, and this machine holds no picture
    /// of another machine any more. Resume continues the work. The call is refused if rendered pictures can't be
    /// published because the queue publish is paused or its limit is 0.
    public struct Drain: ControlCall {
        public static let method = "org.pipelined.Control.Drain"
        public static let parameterNames: [String] = []
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            public var queues: [String: Control.Queue]
            public init(queues: [String: Control.Queue]) {
                (self.queues) = (queues)
            }
        }
    }
    /// Executes a command on machines of the fleet. `command` is pause, resume, concurrency, cancel-all or drain; the other
    /// parameters are the same as in the corresponding method. If `nodes` is empty, all machines are meant, including this
    /// one. The call replies when each machine has executed the command, or has not answered in time.
    public struct Command: ControlCall {
        public static let method = "org.pipelined.Control.Command"
        public static let parameterNames: [String] = ["command", "nodes", "queue", "limit", "reason", "save"]
        public var command: String
        @Omissible public var nodes: [String]
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
    /// Makes a read-only call on machines of the fleet. `call` is Status, List or Show, and `parameters` are its
    /// parameters as JSON. `nodes` is as in Command. A machine whose reply is longer than 61440 bytes returns an error
    /// instead, so List needs a `limit`.
    public struct Ask: ControlCall {
        public static let method = "org.pipelined.Control.Ask"
        public static let parameterNames: [String] = ["nodes", "call", "parameters"]
        @Omissible public var nodes: [String]
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
    /// Checks these machines of the fleet, or all other machines, by lending each a small picture, regardless of
    /// `Give=`. A machine has 10 seconds to accept the picture, and 20 more to return the result. The daemon checks all
    /// machines concurrently, and makes no job. It cancels the checks when the client disconnects.
    public struct CheckFleet: ControlCall {
        public static let method = "org.pipelined.Control.CheckFleet"
        public static let parameterNames: [String] = ["nodes"]
        @Omissible public var nodes: [String]
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
    /// All recipes. `folder` is the folder that contains their files.
    public struct Recipes: ControlCall {
        public static let method = "org.pipelined.Control.Recipes"
        public static let parameterNames: [String] = []
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
        public static let parameterNames: [String] = []
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
        public static let parameterNames: [String] = []
        public init() {}
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var settings: [Control.Setting]
            public init(settings: [Control.Setting] = []) {
                (self.settings) = (settings)
            }
        }
    }
    /// Reads the configuration and the plugins again. If `problems` is empty, the new configuration is in force; otherwise
    /// nothing has changed. The daemon leaves out the plugins in `skipped`, and does not run the hooks in `hooks`. With
    /// `check`, the call only reports what it has found, and changes nothing.
    public struct Reload: ControlCall {
        public static let method = "org.pipelined.Control.Reload"
        public static let parameterNames: [String] = ["check"]
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
    /// Writes a recipe into the daemon's state folder, or replaces one that is there, and reloads the whole configuration. If
    /// `problems` is empty, the recipe is in force; otherwise nothing has changed. The call is refused for the name of a
    /// recipe whose file is elsewhere, and for the name of the default recipe. A recipe from this call has only these
    /// settings: it can't name a folder or a hook.
    public struct SaveRecipe: ControlCall {
        public static let method = "org.pipelined.Control.SaveRecipe"
        public static let parameterNames: [String] = ["name", "description", "outputs"]
        public var name: String
        @Omissible public var description: String?
        @Omissible public var outputs: [Control.OutputDraft]
        public init(name: String, description: String? = nil, outputs: [Control.OutputDraft] = []) {
            (self.name, self.description, self.outputs) = (name, description, outputs)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var problems: [Control.Problem]
            public init(problems: [Control.Problem] = []) {
                (self.problems) = (problems)
            }
        }
    }
    /// Removes a recipe that SaveRecipe has written, and reloads. Its jobs continue, and its inbox and outbox stay.
    public struct RemoveRecipe: ControlCall {
        public static let method = "org.pipelined.Control.RemoveRecipe"
        public static let parameterNames: [String] = ["name"]
        public var name: String
        public init(name: String) {
            (self.name) = (name)
        }
        public struct Reply: Codable, Sendable, Hashable {
            @Omissible public var problems: [Control.Problem]
            public init(problems: [Control.Problem] = []) {
                (self.problems) = (problems)
            }
        }
    }
    public struct GetInfo: ControlCall {
        public static let method = "org.varlink.service.GetInfo"
        public static let parameterNames: [String] = []
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
        public static let parameterNames: [String] = ["interface"]
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
    /// The daemon has understood the call, but can't execute it now.
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
