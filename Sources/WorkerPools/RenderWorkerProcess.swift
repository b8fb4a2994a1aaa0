import PipelineModel
import SystemCalls
import WorkerProtocol

/// The supervisor's side of a render worker's process.
final class RenderWorkerProcess: WorkerProcess<WorkerMessage>, StartedWorker {
    enum State {
        /// The worker has not sent `hello` yet.
        case starting
        case idle
        case busy(RenderTask)
        /// The picture waits until this much memory is free; its header determines the amount.
        case waitsForMemory(RenderTask, Int64)
        /// The worker was told to exit, but has not exited yet.
        case leaving
    }

    let generation: Int
    let decoders: Decoders
    private let writesJXL: Bool
    var state = State.starting
    var jobs = 0
    /// The plugin file of each filter, by filter name.
    var files: [String: String] = [:]
    /// Shared memory in which the worker notes its running filters; received with `hello`.
    private var trail: FilterTrail?
    /// The outputs of the latest request. The worker remembers them, so the next request need not repeat them.
    var outputs: [RenderOutput] = []
    /// The crash note, if a crashing worker could still send it as its last message.
    var crash: CrashNote?
    /// A strong reference, which keeps the pool until this worker has ended. Without it, a daemon that fails to start
    /// would release the pool earlier.
    private let pool: WorkerPool

    init(
        program: String, arguments: [String], generation: Int, writesJXL: Bool, decoders: Decoders,
        pool: WorkerPool
    ) throws {
        (self.generation, self.writesJXL, self.pool) = (generation, writesJXL, pool)
        self.decoders = decoders
        let options =
            (writesJXL ? ["--jxl"] : []) + (decoders.jpeg == .libjpeg ? ["--libjpeg"] : [])
            + (decoders.png == .libvips ? ["--libvips-png"] : [])
        try super.init(program: program, arguments: options + arguments)
    }

    var isReady: Bool { if case .starting = state { false } else { true } }
    var isIdle: Bool { if case .idle = state { true } else { false } }
    var isLeaving: Bool { if case .leaving = state { true } else { false } }
    var task: RenderTask? {
        switch state {
        case .busy(let task), .waitsForMemory(let task, _): task
        default: nil
        }
    }

    func mayWork(on task: RenderTask) -> Bool { writesJXL || !task.writesJXL }

    /// The filters that may have caused a crash or hang: the running filters if they are known, else all filters of the
    /// task. Prefers the crash note to the trail: the note names the filter on the crashed thread's stack, but the
    /// trail also names filters that were running while another thread crashed.
    var suspicion: Suspicion {
        let known = crash.map { $0.filter.map { [$0] } ?? [] } ?? trail?.read().running ?? []
        let chains = task?.outputs.flatMap(\.stages).map(\.name) ?? []
        var filters: [Suspicion.Filter] = []
        for name in known.isEmpty ? chains : known {
            guard let file = files[name], !filters.contains(where: { $0.name == name }) else { continue }
            filters.append(Suspicion.Filter(name: name, file: file))
        }
        return Suspicion(
            filters: filters, isCertain: !known.isEmpty && !filters.isEmpty,
            isOutOfMemory: crash?.isOutOfMemory ?? false)
    }

    override func received(_ message: WorkerMessage, _ descriptors: [Descriptor]) {
        if case .hello = message { trail = descriptors.first.map(FilterTrail.init(reading:)) }
        pool.received(message, from: self)
    }

    override func ended(_ end: WorkerEnd) { pool.ended(self, end) }

    func allow(memory: Int64) { limitMemory(to: PictureHeader.memoryLimit(memory)) }

    override func leave() {
        state = .leaving
        super.leave()
    }
}
