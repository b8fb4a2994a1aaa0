import SystemCalls
import WorkerProtocol

/// A render worker's process, seen from the supervisor.
final class Worker: WorkerProcess<WorkerMessage> {
    enum State {
        /// Started; has not said hello.
        case starting
        case idle
        case busy(RenderTask)
        /// Has read the header, which says that it needs so much memory; there is no room yet.
        case held(RenderTask, Int64)
        /// Told to go; its exit is awaited.
        case leaving
    }

    let generation: Int
    var state = State.starting
    var jobs = 0
    /// The files of its filters, by their names.
    var files: [String: String] = [:]
    /// Comes with `hello`.
    private var trail: FilterTrail?
    /// Those that it was asked for last, and knows.
    var outputs: [RenderOutput] = []
    /// Its last word.
    var crash: CrashNote?
    private let message: (Worker, WorkerMessage) -> Void
    private let end: (Worker, WorkerEnd) -> Void

    /// Starts the process. `message` is called with each message, `ended` once, with how it ended, after the last message.
    init(
        program: String, arguments: [String], generation: Int,
        message: @escaping (Worker, WorkerMessage) -> Void, ended: @escaping (Worker, WorkerEnd) -> Void
    ) throws {
        self.generation = generation
        self.message = message
        end = ended
        try super.init(program: program, arguments: arguments)
    }

    var isIdle: Bool { if case .idle = state { true } else { false } }
    var isLeaving: Bool { if case .leaving = state { true } else { false } }
    var task: RenderTask? {
        switch state {
        case .busy(let task), .held(let task, _): task
        default: nil
        }
    }

    /// The filters whose code it runs, as it writes itself.
    var running: [String] { trail?.read().running ?? [] }

    override func received(_ message: WorkerMessage, _ descriptors: [Descriptor]) {
        if case .hello = message { trail = descriptors.first.map(FilterTrail.init(reading:)) }
        self.message(self, message)
    }

    override func ended(_ end: WorkerEnd) { self.end(self, end) }

    func allow(memory: Int64) { limitMemory(to: PictureHeader.memoryLimit(memory)) }

    override func leave() {
        state = .leaving
        super.leave()
    }
}
