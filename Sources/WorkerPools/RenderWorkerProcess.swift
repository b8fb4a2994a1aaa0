import PipelineModel
import SystemCalls
import WorkerProtocol

/// A render worker's process, seen from the supervisor.
final class RenderWorkerProcess: WorkerProcess<WorkerMessage>, StartedWorker {
    enum State {
        /// It has not said hello.
        case starting
        case idle
        case busy(RenderTask)
        /// Its picture needs this much memory by its header, and there is no room yet.
        case waitsForMemory(RenderTask, Int64)
        /// It was told to go; its exit is awaited.
        case leaving
    }

    let generation: Int
    private let writesJXL: Bool
    var state = State.starting
    var jobs = 0
    /// The files of its filters, by their names.
    var files: [String: String] = [:]
    /// It comes with `hello`.
    private var trail: FilterTrail?
    /// The outputs that it was asked for last, and knows.
    var outputs: [RenderOutput] = []
    /// Its last message, if it crashed.
    var crash: CrashNote?
    /// It stays as long as the worker: a daemon that can't start lets go of it earlier.
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

    /// The filters whose code it runs, or ran when it ended, as far as is known. A crash note knows by the stack. Libraries
    /// may crash in another thread while a filter runs, which is not that filter's doing.
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
