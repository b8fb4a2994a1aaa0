import PipelineModel
import SystemCalls
import WorkerProtocol

/// The supervisor's side of a render worker's process.
final class RenderWorkerProcess: WorkerProcess<WorkerMessage>, StartedWorker {
    enum State {
        /// Has not sent `hello` yet.
        case starting
        case idle
        case busy(RenderTask)
        /// The picture's header demands this much memory, which is not free yet.
        case waitsForMemory(RenderTask, Int64)
        /// Told to exit; the exit is pending.
        case leaving
    }

    let generation: Int
    private let writesJXL: Bool
    var state = State.starting
    var jobs = 0
    /// Files of its filters, by filter name.
    var files: [String: String] = [:]
    /// Arrives with `hello`.
    private var trail: FilterTrail?
    /// The outputs of its last request, which it remembers.
    var outputs: [RenderOutput] = []
    /// Its note about a crash, the last message.
    var crash: CrashNote?
    /// A strong reference for as long as the worker lives: a daemon that fails to start releases the pool earlier.
    private let pool: WorkerPool

    init(program: String, arguments: [String], generation: Int, writesJXL: Bool, pool: WorkerPool) throws {
        (self.generation, self.writesJXL, self.pool) = (generation, writesJXL, pool)
        try super.init(program: program, arguments: (writesJXL ? ["--jxl"] : []) + arguments)
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

    /// The filters that are running, or were when the worker ended, as far as known. A crash note is more reliable than
    /// the trail, because it goes by the stack: a library may crash in another thread while a filter runs.
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
