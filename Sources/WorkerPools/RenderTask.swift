package import DaemonRuntime
import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls
package import WorkerProtocol

/// A picture to render in a worker: the outputs to make, the open files, and handlers, which are called on the
/// coordination queue.
@Coordination
package final class RenderTask {
    package enum Failure: Error, Sendable {
        /// The worker reports that the picture failed.
        case picture(WorkerFailure)
        /// The worker died while it worked on the picture.
        case workerLost(WorkerEnd, Suspicion)
        /// The kernel ended the worker for a forbidden system call.
        case confined(Suspicion)
        case timedOut(Suspicion)
        /// The picture needs more memory than the whole budget. The text contains both amounts.
        case tooHeavy(String)
        /// No node has taken the picture, and it can't be rendered here.
        case notLent(Untaken?)
        case cancelled
    }

    enum Kind {
        case render
        /// Reads only the header.
        case look
        /// Combines the sources into a contact sheet.
        case compose(SheetRequest)
    }

    package struct Limits: Sendable {
        var maxPixels: Int64
        /// Maximum size of a PNG's texts and profile, in bytes.
        var maxTexts: Int64
        /// Maximum size of a result, in bytes.
        var maxResult: Int64
        var onTruncated: TruncatedPolicy
        var raw: RawPolicy
        var filterLines: Int
        var timeout: Duration
        var cancelGrace: Duration

        package init(_ settings: Settings, onTruncated: TruncatedPolicy, raw: RawPolicy) {
            maxPixels = settings.maxPixels
            maxTexts = settings.maxTexts
            maxResult = settings.maxResult
            self.onTruncated = onTruncated
            self.raw = raw
            filterLines = settings.plugins.lines
            timeout = settings.jobTimeout
            cancelGrace = settings.cancelGrace
        }
    }

    let name: String
    let subject: LogSubject
    let outputs: [RenderOutput]
    let limits: Limits
    /// Whether the task is under suspicion after a crash, so that no other task may run at the same time.
    let alone: Bool
    /// Whether the task queues behind all tasks that don't yield.
    let yields: Bool
    /// The terms on which the picture may be lent; nil if it must be rendered here. A picture that must be rendered
    /// here gets a worker even beyond the pool's capacity; a picture that may be lent does not.
    let lending: Lending?
    /// Called with the reason when the task has to wait, and with nil when it continues.
    let waits: @Sendable (String?) -> Void
    /// Called with the process ID of the worker that starts the task.
    let begun: @Sendable (Int32) -> Void
    let opened: @Sendable (PictureHeader) -> Void
    /// Called with the number of pixels read so far, and the total number of pixels.
    let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void
    let done: @Sendable (Result<[RenderedOutput], Failure>) -> Void

    /// The picture to read; after a barrier, also the original. Closed here as soon as they are sent to the worker.
    var sources: [Descriptor]
    /// The result files, also closed here as soon as they are sent to the worker.
    var targets: [Descriptor]
    let kind: Kind
    var cancelled = false
    var isWaiting = false
    /// The ID under which the task was first lent. Tasks that the fleet returns queue in the order of this ID, before
    /// tasks that were never lent.
    var lentFirst: Int?
    /// Processor time that the worker had used before the task started.
    var processorTimeBefore: Duration?
    /// Number of log lines received from the picture's filters.
    var lines = 0
    /// When the task times out. Nil while it waits for memory, because that time does not count.
    var deadline: DispatchTime?

    /// The number of results.
    var resultCount: Int { if case .compose = kind { 1 } else { outputs.count } }

    /// Whether the task needs a worker with the JPEG XL encoder.
    var writesJXL: Bool {
        if case .render = kind { outputs.contains { $0.stages.last?.writesJXL ?? false } } else { false }
    }

    package nonisolated init(
        name: String, subject: LogSubject, outputs: [RenderOutput], limits: Limits, alone: Bool, yields: Bool = false,
        lending: Lending? = nil, sources: [Descriptor], targets: [Descriptor],
        waits: @escaping @Sendable (String?) -> Void,
        begun: @escaping @Sendable (Int32) -> Void,
        opened: @escaping @Sendable (PictureHeader) -> Void,
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void,
        done: @escaping @Sendable (Result<[RenderedOutput], Failure>) -> Void
    ) {
        self.name = name
        self.subject = subject
        self.outputs = outputs
        self.limits = limits
        (self.alone, self.yields, self.lending) = (alone, yields, lending)
        self.waits = waits
        self.begun = begun
        self.sources = sources
        self.targets = targets
        self.opened = opened
        self.progress = progress
        self.done = done
        kind = .render
    }

    /// Creates a task that combines small pictures into a contact sheet.
    package nonisolated init(
        composing sheet: SheetRequest, of sources: [Descriptor], into target: Descriptor, limits: Limits,
        done: @escaping @Sendable (Result<[RenderedOutput], Failure>) -> Void
    ) {
        name = "a sheet"
        outputs = []
        self.limits = limits
        subject = LogSubject()
        (alone, yields, lending) = (false, false, nil)
        waits = { _ in }
        begun = { _ in }
        self.sources = sources
        targets = [target]
        opened = { _ in }
        progress = { _, _ in }
        self.done = done
        kind = .compose(sheet)
    }

    /// Creates a task that reads only a picture's header, and how the worker would decode the picture.
    package nonisolated init(
        lookingAt source: Descriptor, name: String, outputs: [RenderOutput], limits: Limits,
        done: @escaping @Sendable (Result<PictureHeader, Failure>) -> Void
    ) {
        let header = Mutex<PictureHeader?>(nil)
        self.name = name
        self.outputs = outputs
        self.limits = limits
        subject = LogSubject()
        (alone, yields, lending) = (false, false, nil)
        waits = { _ in }
        begun = { _ in }
        sources = [source]
        targets = []
        opened = { seen in header.withLock { $0 = seen } }
        progress = { _, _ in }
        self.done = { result in
            done(result.flatMap { _ in header.withLock { $0 }.map(Result.success) ?? .failure(.cancelled) })
        }
        kind = .look
    }
}
