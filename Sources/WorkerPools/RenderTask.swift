package import DaemonRuntime
import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls
package import WorkerProtocol

/// A picture for a worker: the outputs to make, the open files, and the handlers of the answers. They are called on the
/// coordination queue.
@Coordination
package final class RenderTask {
    package enum Failure: Error, Sendable {
        /// The worker reports that the picture has failed.
        case picture(WorkerFailure)
        /// The worker ended in the middle.
        case workerLost(WorkerEnd, Suspicion)
        /// The kernel ended the worker, which tried a call that is refused.
        case confined(Suspicion)
        case timedOut(Suspicion)
        /// It needs more memory than may ever be used; the text says how much.
        case tooHeavy(String)
        /// No node takes it, and it is rendered by none of this daemon's workers.
        case notLent(Untaken?)
        case cancelled
    }

    enum Kind {
        case render
        /// It ends once the header is read.
        case look
        /// The sources become a sheet.
        case compose(SheetRequest)
    }

    package struct Limits: Sendable {
        var maxPixels: Int64
        /// Bytes.
        var maxTexts: Int64
        /// Bytes.
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
    /// It is under suspicion: nothing else is in work beside it.
    let alone: Bool
    /// Tasks that don't yield go before it.
    let yields: Bool
    /// Nil when it is rendered here in any case. Such a task has a place of its own; others keep within the capacity.
    let lending: Lending?
    /// Called with the reason when it waits in the middle, and with nil when it goes on.
    let waits: @Sendable (String?) -> Void
    /// Called with the process that works on it.
    let begun: @Sendable (Int32) -> Void
    let opened: @Sendable (PictureHeader) -> Void
    /// Called with the number of pixels that have been read, and of all pixels.
    let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void
    let done: @Sendable (Result<[RenderedOutput], Failure>) -> Void

    /// The file to read and, if that was handed over a barrier, the original. Let go as soon as the worker has them.
    var sources: [Descriptor]
    /// The files of the results, released in the same way.
    var targets: [Descriptor]
    let kind: Kind
    var cancelled = false
    var isWaiting = false
    /// The number under which it was lent first, if it was: what comes home goes before what was not lent.
    var lentFirst: Int?
    /// What its worker had used of the processors before it began.
    var processorTimeBefore: Duration?
    /// The number of lines that its filters have logged.
    var lines = 0
    /// The time when it has taken too long. Nil while it waits for memory, which does not count.
    var deadline: DispatchTime?

    /// The results that its worker makes, or would make.
    var resultCount: Int { if case .compose = kind { 1 } else { outputs.count } }

    /// Only a worker with the encoder of JPEG XL can do it.
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

    /// Puts small pictures side by side.
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

    /// Looks at a picture's header, and at how it would be read.
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
