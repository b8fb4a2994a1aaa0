/// The control socket's interface: its name, and its description in Varlink's own language. The types of `Types.swift` and
/// `Calls.swift` are its Swift side; a test compares the two.
public enum ControlInterface {
    public static let name = "org.pipelined.Control"
    public static let serviceName = "org.varlink.service"

    /// More need more calls.
    public static let mostIDs = 1000
    /// In bytes.
    public static let longestReason = 1000
    public static let longestChain = 10_000
    /// Batches, and jobs, in an answer to Progress.
    public static let mostProgress = 100
    /// Answers a second.
    public static let progressRate = 4

    /// Varlink's own interface, which every service has.
    public static let serviceDescription = """
        # What a Varlink service tells of itself.
        interface org.varlink.service

        method GetInfo() -> (vendor: string, product: string, version: string, url: string, interfaces: []string)
        method GetInterfaceDescription(interface: string) -> (description: string)

        error InterfaceNotFound (interface: string)
        error MethodNotFound (method: string)
        error MethodNotImplemented (method: string)
        error InvalidParameter (parameter: string)
        """

    public static let description = """
        # Shows, cancels and tunes a running pipelined.
        # Times are ISO 8601 in UTC. A job's state is one of: waiting (always with a reason), queued, running, cancelling, done,
        # failed, cancelled.
        # A call speaks of at most \(mostIDs) IDs. A reason has at most \(longestReason) bytes, a chain \(longestChain).
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

        # `input` is a path in the inbox, or a name; a download's is that of its URL until it has come.
        # `before` is the original, as far as its header has been read; `after` has a picture for each of `outputs`. `failure` is the
        # class of what it met last: input, transient, room, crash, timeout, configuration. `setbacks` counts what was transient, and
        # `due` is when it is tried again.
        type Job (
          id: int, batch: ?int, recipe: string, input: string, url: ?string, state: string, reason: ?string,
          outputs: []string, error: ?string, created: string, finished: ?string,
          before: ?Picture, after: []Picture, milliseconds: ?float,
          failure: ?string, setbacks: int, due: ?string
        )

        # `attempt` counts the tries of the job; `worker` is a process; `read` and `written` are bytes. `progress` is there while it
        # works, if it can be told.
        type Operation (
          kind: string, queue: string, state: string, started: ?string, finished: ?string, detail: ?string,
          attempt: int, worker: ?int, read: ?int, written: ?int, failure: ?string, progress: ?Progress
        )

        # How far something is: of a download in bytes, of a render in pixels of the picture, once for each result, of a batch in jobs,
        # of which those that failed or were cancelled count as done. `total` is null while it is not known. `rate` is units a second,
        # of late, and `remaining` seconds: null as long as they can't be told, as while it is paused.
        type Progress (unit: string, done: int, total: ?int, fraction: ?float, rate: ?float, remaining: ?float)

        # `fraction` is that of all operations of the job; `operation` is the one that works, and `progress` how far that is.
        type JobProgress (job: Job, fraction: float, operation: ?string, progress: ?Progress)

        type BatchProgress (batch: Batch, progress: Progress)

        # A job's whole story.
        type Story (
          job: Job, chains: [string]string, original: ?string, tries: int,
          started: ?string, header: ?string, advice: ?string, operations: []Operation,
          priority: string, after: Neighbours, followers: Neighbours
        )

        # Jobs that another one comes after, or that come after it: the first hundred, and how many there are. One that is forgotten has no
        # state.
        type Neighbours (jobs: []Neighbour, count: int)
        type Neighbour (id: int, state: ?string)

        # The jobs of one list, or of one NewBatch, in their states. `name` is the list's.
        type Batch (
          id: int, name: ?string, open: bool,
          waiting: int, queued: int, running: int, cancelling: int, done: int, failed: int, cancelled: int
        )

        # Something that changed. `kind` is `job` (its state), `published` (its results are in the outbox), `picture`
        # (its original lies where it belongs, too, so nothing of the job is left to do), `batch` (`text` is `arrived`
        # when all of its jobs are at a barrier, `ended` when all are over), `queue`, `settings`, or `lost` (events
        # before `cursor` are not in the log any more).
        type Event (
          cursor: int, time: string, kind: string, job: ?Job, batch: ?Batch, queue: ?string, text: ?string
        )

        type PlannedOperation (kind: string, queue: string, does: string)

        # How the pixels of an output would be read, and why so.
        type Decoding (output: ?string, path: string)

        # `picture` is what the header of an opened picture says; `problem`, why it can't be read.
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

        # Why jobs wait, the most frequent reason first: the jobs of these IDs, the jobs of a batch, or all jobs. Files
        # that still settle in an inbox are in Status alone. If there are many reasons, the rarer ones are told
        # together.
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

        # What would become of a file, or of a chain. If a descriptor of the file is passed beside the call, open for reading, a worker
        # reads its header.
        method Explain(file: ?string, chain: ?string) -> (explanation: Explanation)

        # The picture is the one descriptor passed beside this call; no other call is sent in the same message. It has been copied
        # when the reply comes. Calls with the same `batch` belong together; NewBatch gives one. Its jobs wait at a barrier until it is
        # closed: by CloseBatch, or by the end of the connection that had it from NewBatch.
        # `after` and `anyway` are as in Depend, `priority` as in Prioritise; none is the recipe's.
        method Add(
          name: string, recipe: ?string, chain: ?string, batch: ?int, after: ?[]int, anyway: ?bool, priority: ?string
        ) -> (job: Job)
        # The same for URLs: the file is a list of them, one a line, or a browser's shortcut if `name` ends in `.url`. The jobs are those from
        # `first` to `last`, entered together; no `batch` makes one. A line that is no URL is a job that has failed.
        method AddList(
          name: ?string, recipe: ?string, chain: ?string, batch: ?int, after: ?[]int, anyway: ?bool, priority: ?string
        ) -> (batch: int, first: int, last: int)
        method NewBatch() -> (batch: int)
        method CloseBatch(batch: int) -> ()

        # With `more`: each job as it is over, until none of them is left. No IDs: until nothing is left to do. A job is
        # over when it has ended and its original lies where it belongs. `waitsFor` says why originals can't be moved,
        # because a disk is full or does not answer, say. It is sent when it changes, and is null when nothing holds
        # them up.
        method Wait(ids: []int) -> (jobs: []Job, waitsFor: ?string)

        # With `more`: what has changed since the cursor, then what changes. No cursor: from now on.
        method Watch(cursor: ?int) -> (events: []Event)

        # How far the work is: the batches that have not ended, the jobs that are in no batch together (`done` is how many have ended since
        # there was none), and the jobs in work; of batches and jobs the first \(mostProgress), with `unfinished` and `running` for how many
        # there are. With `batch`, of that alone. With `more`: each change, at most \(progressRate) times a second, until the batch has ended.
        method Progress(batch: ?int) -> (
          batches: []BatchProgress, others: Progress, jobs: []JobProgress, unfinished: int, running: int
        )

        method Cancel(ids: []int) -> (jobs: []Job)
        # Answers when none of them runs.
        method CancelAll() -> (cancelled: int)
        # The same for the jobs of a batch, of a recipe, in one of these states: all that is given has to fit, and something is given.
        method CancelMatching(batch: ?int, recipe: ?string, states: []string) -> (cancelled: int)

        # A job that has not begun is to come after others, or after some of them no more. When one of them fails or is cancelled, it
        # fails as well, unless `anyway`.
        method Depend(id: int, after: []int, remove: []int, anyway: bool) -> (job: Job)

        # `priority` is low, normal or high: for jobs that have not begun, either those named or those of a batch.
        method Prioritise(ids: []int, batch: ?int, priority: string) -> (changed: int)

        # Brings back failed or cancelled jobs: those named, or all of the named states. Of the waiting ones, those that are to be tried
        # again later are tried at once.
        method Retry(ids: []int, states: []string) -> (retried: []int)

        # No queue: download, render and publish. Answers when nothing new starts.
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
        # It is understood, but can't be done now.
        error Refused (message: string)
        """
}
