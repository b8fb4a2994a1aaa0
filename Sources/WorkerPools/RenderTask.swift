package import DaemonRuntime
import Dispatch
package import PipelineModel
package import ServiceProgram
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
        /// No node has taken the picture, and this node can't render it.
        case notLent(RefusedOffer?)
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

    /// The picture's name and log subject, and the outputs to make.
    package struct Wish: Sendable {
        var name: String
        var subject: LogSubject
        var outputs: [RenderOutput]

        package init(name: String, subject: LogSubject = LogSubject(), outputs: [RenderOutput]) {
            (self.name, self.subject, self.outputs) = (name, subject, outputs)
        }
    }

    /// The open files: the picture to read, and the files for the results. After a barrier, the original is open, too.
    package struct Files: Sendable {
        var sources: [Descriptor]
        var targets: [Descriptor]

        package init(from sources: [Descriptor], into targets: [Descriptor] = []) {
            (self.sources, self.targets) = (sources, targets)
        }
    }

    /// The conditions under which the task may run.
    package struct Terms: Sendable {
        /// Whether the task is under suspicion after a crash, so that no other task may run at the same time.
        var alone: Bool
        /// Whether the task queues behind all tasks that don't yield.
        var yields: Bool
        /// The terms on which the picture may be lent; nil if it must be rendered here. A picture that must be rendered
        /// here gets a worker even beyond the pool's capacity; a picture that may be lent does not.
        var lending: Lending?

        package init(alone: Bool = false, yields: Bool = false, lending: Lending? = nil) {
            (self.alone, self.yields, self.lending) = (alone, yields, lending)
        }
    }

    /// Callbacks that report the task's progress before it finishes.
    package struct Reports: Sendable {
        /// Called with the reason when the task has to wait, and with nil when it continues.
        var waits: @Sendable (String?) -> Void
        /// Called with the process ID of the worker that starts the task.
        var begun: @Sendable (Int32) -> Void
        var opened: @Sendable (PictureHeader) -> Void
        /// Called with the number of pixels read so far, and the total number of pixels.
        var progress: @Sendable (_ done: Int64, _ total: Int64) -> Void

        package init(
            waits: @escaping @Sendable (String?) -> Void = { _ in },
            begun: @escaping @Sendable (Int32) -> Void = { _ in },
            opened: @escaping @Sendable (PictureHeader) -> Void = { _ in },
            progress: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void = { _, _ in }
        ) {
            (self.waits, self.begun, self.opened, self.progress) = (waits, begun, opened, progress)
        }
    }

    package typealias Done = @Sendable (Result<[RenderedOutput], Failure>) -> Void

    private let wish: Wish
    let limits: Limits
    private let terms: Terms
    let reports: Reports
    let done: Done
    let kind: Kind

    /// The task's files. The supervisor closes each file as soon as it has sent the file to the worker.
    var files: Files
    var cancelled = false
    var isWaiting = false
    /// The ID under which the task was first lent. Returned tasks are queued in the order of their IDs, ahead of tasks
    /// that were never lent.
    var lentFirst: Int?
    /// Processor time that the worker had used before the task started.
    var processorTimeBefore: Duration?
    /// Number of log lines received from the picture's filters.
    var lines = 0
    /// When the task times out. Nil while the task waits for memory, because waiting does not count.
    var deadline: DispatchTime?

    /// The number of results.
    var resultCount: Int { if case .compose = kind { 1 } else { outputs.count } }

    /// Whether the task needs a worker with the JPEG XL encoder.
    var writesJXL: Bool {
        if case .render = kind { outputs.contains { $0.stages.last?.writesJXL ?? false } } else { false }
    }

    var name: String { wish.name }
    var subject: LogSubject { wish.subject }
    var outputs: [RenderOutput] { wish.outputs }
    var alone: Bool { terms.alone }
    var yields: Bool { terms.yields }
    var lending: Lending? { terms.lending }

    private nonisolated init(
        _ kind: Kind, _ wish: Wish, _ limits: Limits, _ files: Files, _ terms: Terms, _ reports: Reports,
        done: @escaping Done
    ) {
        (self.kind, self.wish, self.limits, self.files) = (kind, wish, limits, files)
        (self.terms, self.reports, self.done) = (terms, reports, done)
    }

    package nonisolated convenience init(
        _ wish: Wish, limits: Limits, files: Files, terms: Terms = Terms(), reports: Reports = Reports(),
        done: @escaping Done
    ) {
        self.init(.render, wish, limits, files, terms, reports, done: done)
    }

    /// Creates a task that combines small pictures into a contact sheet.
    package nonisolated convenience init(
        composing sheet: SheetRequest, files: Files, limits: Limits, done: @escaping Done
    ) {
        self.init(
            .compose(sheet), Wish(name: "a sheet", outputs: []), limits, files, Terms(), Reports(), done: done)
    }

    /// Creates a task that reads only a picture's header, to find out how the worker would decode the picture.
    package nonisolated convenience init(
        lookingAt source: Descriptor, for wish: Wish, limits: Limits,
        done: @escaping @Sendable (Result<PictureHeader, Failure>) -> Void
    ) {
        let header = Mutex<PictureHeader?>(nil)
        let reports = Reports(opened: { seen in header.withLock { $0 = seen } })
        self.init(.look, wish, limits, Files(from: [source]), Terms(), reports) { result in
            done(result.flatMap { _ in header.withLock { $0 }.map(Result.success) ?? .failure(.cancelled) })
        }
    }
}
