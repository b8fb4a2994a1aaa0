package import DaemonRuntime
import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls
package import WorkerProtocol

/// One picture for a worker: what to make of it, the open files, and where the answers go. Answers come on the coordination queue.
@Coordination
package final class RenderTask {
    package enum Failure: Error, Sendable {
        /// The worker's own word on the picture.
        case picture(WorkerFailure)
        /// The worker ended in the middle.
        case workerLost(WorkerEnd, Suspicion)
        /// The worker was ended by the kernel: it tried what it may not.
        case confined(Suspicion)
        case timedOut(Suspicion)
        /// It needs more memory than may ever be used, in these words.
        case tooHeavy(String)
        case cancelled
    }

    package struct Limits: Sendable {
        var maxPixels: Int64
        /// Bytes.
        var maxResult: Int64
        var onTruncated: TruncatedPolicy
        var filterLines: Int
        var timeout: Duration
        var cancelGrace: Duration

        package init(_ settings: Settings, onTruncated: TruncatedPolicy) {
            maxPixels = settings.maxPixels
            maxResult = settings.maxResult
            self.onTruncated = onTruncated
            filterLines = settings.plugins.lines
            timeout = settings.jobTimeout
            cancelGrace = settings.cancelGrace
        }
    }

    let name: String
    let subject: LogSubject
    let outputs: [RenderOutput]
    let limits: Limits
    /// Nothing else is in work beside it: it is under suspicion.
    let alone: Bool
    /// It waits in the middle, for this reason, or goes on.
    let held: @Sendable (String?) -> Void
    /// This process works on it.
    let begun: @Sendable (Int32) -> Void
    let opened: @Sendable (PictureHeader) -> Void
    /// Pixels that have been read, of all that are.
    let progress: @Sendable (_ done: Int64, _ total: Int64) -> Void
    let done: @Sendable (Result<[RenderedOutput], Failure>) -> Void

    /// What is read, and what that was made of if it was handed over a barrier. Let go as soon as the worker has them.
    var sources: [Descriptor]
    /// Where the results go, likewise.
    var targets: [Descriptor]
    /// It ends with the header.
    let looksOnly: Bool
    var cancelled = false
    var isHeld = false
    /// Lines that its filters have logged.
    var lines = 0
    /// When it has taken too long; nobody counts while it waits for memory.
    var deadline: DispatchTime?

    package nonisolated init(
        name: String, subject: LogSubject, outputs: [RenderOutput], limits: Limits, alone: Bool, sources: [Descriptor],
        targets: [Descriptor], held: @escaping @Sendable (String?) -> Void, begun: @escaping @Sendable (Int32) -> Void,
        opened: @escaping @Sendable (PictureHeader) -> Void,
        progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void,
        done: @escaping @Sendable (Result<[RenderedOutput], Failure>) -> Void
    ) {
        self.name = name
        self.subject = subject
        self.outputs = outputs
        self.limits = limits
        self.alone = alone
        self.held = held
        self.begun = begun
        self.sources = sources
        self.targets = targets
        self.opened = opened
        self.progress = progress
        self.done = done
        looksOnly = false
    }

    /// A look at a picture's header, and at how it would be read.
    package nonisolated init(
        lookingAt source: Descriptor, name: String, outputs: [RenderOutput], limits: Limits,
        done: @escaping @Sendable (Result<PictureHeader, Failure>) -> Void
    ) {
        let header = Mutex<PictureHeader?>(nil)
        self.name = name
        self.outputs = outputs
        self.limits = limits
        subject = LogSubject()
        alone = false
        held = { _ in }
        begun = { _ in }
        sources = [source]
        targets = []
        opened = { seen in header.withLock { $0 = seen } }
        progress = { _, _ in }
        self.done = { result in
            done(result.flatMap { _ in header.withLock { $0 }.map(Result.success) ?? .failure(.cancelled) })
        }
        looksOnly = true
    }
}
