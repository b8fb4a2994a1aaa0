import CLinux
import Dispatch
import Glibc
import SystemCalls
import WorkerProtocol

/// A render worker's process, seen from the supervisor.
///
/// `@unchecked`: it lives on its pool's queue; others only carry it there.
final class Worker: @unchecked Sendable {
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

    let process: pid_t
    let generation: Int
    var state = State.starting
    var jobs = 0
    /// Whether the kill was ours.
    var killed = false
    private var stoppedBy: Int32?
    /// Its number may be another's by now.
    private var isReaped = false

    private var channel: WorkerChannel?
    private let messages: ReadySource
    private let exit: ReadySource

    /// Starts the process. `message` is called with each message, `ended` once, with how it ended, after the last message.
    init(
        program: String, plugins: [String], generation: Int, queue: DispatchQueue,
        message: @escaping (Worker, WorkerMessage) -> Void, ended: @escaping (Worker, WorkerEnd) -> Void
    ) throws {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        process = try Self.spawn(program, plugins, channel: theirs)
        self.generation = generation
        let pidfd = clinux_pidfd_open(process)
        guard pidfd >= 0 else {
            let error = SystemError("pidfd_open", program)
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw error
        }
        try ours.setNonblocking()
        channel = WorkerChannel(ours)
        messages = ReadySource(ours, queue: queue)
        exit = ReadySource(Descriptor(owning: pidfd), queue: queue)
        messages.activate { [weak self] in self?.receive(message) }
        exit.activate { [self] in
            receive(message)
            messages.cancel()
            exit.cancel()
            channel = nil
            ended(self, reap())
        }
    }

    var isIdle: Bool { if case .idle = state { true } else { false } }
    var isLeaving: Bool { if case .leaving = state { true } else { false } }
    var task: RenderTask? {
        switch state {
        case .busy(let task), .held(let task, _): task
        default: nil
        }
    }

    func send(_ message: SupervisorMessage, descriptors: [Descriptor] = []) {
        do {
            try channel?.send(message, descriptors: descriptors)
        } catch is SystemError {
            // The worker is gone; its exit is told apart.
        } catch {
            Log.failure("worker \(process): \(error)")
            terminate()
        }
    }

    /// What the worker writes to a file ends there; it can't change that itself.
    func limitResults(to bytes: Int64) { limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", bytes) }

    /// The most that it may allocate from now on: a decoder that takes far more than its header made us expect has gone wild.
    func allow(memory: Int64) { limit(RLIMIT_DATA, "RLIMIT_DATA", Self.ownMemory + 4 * memory) }

    /// What a worker has mapped before any picture, libraries and stacks of threads, with as much again for what estimates leave out.
    private static let ownMemory: Int64 = 1 << 30

    private func limit(_ resource: __rlimit_resource, _ name: String, _ bytes: Int64) {
        guard !isReaped, clinux_limit(process, Int32(resource.rawValue), UInt64(bytes)) != 0 else { return }
        Log.failure("worker \(process): \(SystemError("prlimit", name)), ignoring")
    }

    /// Closing the channel ends the worker.
    func leave() {
        state = .leaving
        messages.cancel()
        channel = nil
    }

    func terminate() {
        guard !isReaped else { return }
        killed = true
        kill(process, SIGKILL)
    }

    /// Ends it when it stands still: a stopped process ends by nothing else, and its picture would wait for JobTimeout.
    func endIfStopped() {
        let signal = isReaped ? 0 : clinux_stopped(process)
        guard signal > 0 else { return }
        stoppedBy = signal
        kill(process, SIGKILL)
    }

    private func receive(_ handle: (Worker, WorkerMessage) -> Void) {
        while let channel {
            do {
                guard let (message, _) = try channel.receive(WorkerMessage.self) else { return messages.cancel() }
                handle(self, message)
            } catch let error as SystemError {
                // Anything but "nothing more now" is the end of a worker that is gone; its exit is told apart.
                if error.code != EAGAIN { messages.cancel() }
                return
            } catch {
                // Nonsense from a worker: it is not to be trusted with another picture.
                Log.failure("worker \(process) said something that can't be read (\(error)); it is replaced")
                terminate()
                return messages.cancel()
            }
        }
    }

    private func reap() -> WorkerEnd {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isReaped = true
        return WorkerEnd(status: status, stoppedBy: stoppedBy, wasKilledByUs: killed)
    }

    private static func spawn(_ program: String, _ plugins: [String], channel: Descriptor) throws -> Int32 {
        // Swift's own backtrace of a crash would start a program from inside the confinement.
        var environment = ["MALLOC_ARENA_MAX=2", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "SWIFT_BACKTRACE=enable=no"]
        if let libraries = getenv("LD_LIBRARY_PATH") {
            environment.append("LD_LIBRARY_PATH=\(String(cString: libraries))")
        }
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        return try ChildProgram.start(
            [program] + plugins, environment: environment,
            streams: [nothing.number, STDERR_FILENO, STDERR_FILENO, channel.number])
    }
}
