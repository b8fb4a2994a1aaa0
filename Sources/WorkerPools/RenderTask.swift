package import DaemonRuntime
import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls
package import WorkerProtocol

/// A picture for a worker: the outputs to make, the open files, and handlers for the answers, which are called on the
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
        /// It needs more memory than the whole budget; the text has the amounts.
        case tooHeavy(String)
        /// No node takes the picture, and it can't be rendered here.
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
        /// In bytes.
        var maxTexts: Int64
        /// In bytes.
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
    /// Under suspicion after a crash: nothing else runs beside it.
    let alone: Bool
    /// Queues behind all tasks that don't yield.
    let yields: Bool
    /// Nil if it must be rendered here. Such a task always gets a worker, even beyond the capacity; tasks that may be
    /// lent stay within it.
    let lending: Lending?
    /// Called with the reason when it has to wait, and with nil when it continues.
    let waits: @Sendable (String?) -> Void
    /// Called with the process ID of its worker.
    let begun: @Sendable (Int32) -> Void
    let opened: @Sendable (PictureHeader) -> Void
    /// Called with the number of pixels read, and of all pixels.
    let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void
    let done: @Sendable (Result<[RenderedOutput], Failure>) -> Void

    /// The file to read; behind a barrier also the original. Released as soon as the worker has them.
    var sources: [Descriptor]
    /// The result files, released likewise.
    var targets: [Descriptor]
    let kind: Kind
    var cancelled = false
    var isWaiting = false
    /// Its ID when it was first lent. Returned tasks queue before tasks that were never lent, in this order.
    var lentFirst: Int?
    /// Processor time of its worker before the task started.
    var processorTimeBefore: Duration?
    /// Number of lines logged by its filters.
    var lines = 0
    /// When it times out. Nil while it waits for memory, which does not count.
    var deadline: DispatchTime?

    /// The number of results.
    var resultCount: Int { if case .compose = kind { 1 } else { outputs.count } }

    /// Whether it needs a worker with the JPEG XL encoder.
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

    /// Combines small pictures into a contact sheet.
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

    /// Reads only a picture's header, and how the worker would decode it.
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
