import CLinux
import DaemonRuntime
import Glibc
import ServiceProgram
import SystemCalls
import WorkerProtocol

/// The supervisor's side of a worker process: starts, limits, kills and reaps it, and exchanges messages with it.
@Coordination
class WorkerProcess<Message: Decodable & Sendable> {
    /// Pause before the supervisor retries sending a message that the kernel refused.
    private static var pause: Duration { .milliseconds(20) }

    /// How long a worker may take to exit after its channel is closed.
    private static var leaveGrace: Duration { .seconds(10) }

    nonisolated let process: pid_t
    private(set) var killed = false
    private var stoppedBy: Int32?
    /// The latest value of each resource limit, by name.
    private var limits: [String: Int64] = [:]
    /// Whether the process has been reaped. After that, another process may get the same ID.
    private var isReaped = false

    /// Processor time that the worker has used so far.
    var processorTime: Duration? {
        var (clock, time) = (clockid_t(), timespec())
        guard !isReaped, clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private var channel: WorkerChannel?
    /// Messages that did not fit into the socket buffer, in order.
    private var unsent: [WorkerPacket] = []
    /// Fires when the socket is writable again. Exists only while a full socket buffer delays messages.
    private var room: ReadySource?
    private let messages: ReadySource
    private let exit: ReadySource
    private let output: WorkerOutput

    init(program: String, arguments: [String]) throws {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let (reading, writing) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        output = try WorkerOutput(reading)
        process = try Self.spawn(program, arguments, channel: theirs, output: writing)
        let pidfd = clinux_pidfd_open(process)
        guard pidfd >= 0 else {
            let error = SystemError("pidfd_open", program)
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw error
        }
        try ours.setNonblocking()
        channel = WorkerChannel(ours)
        messages = ReadySource(coordinated: ours)
        exit = ReadySource(coordinated: Descriptor(owning: pidfd))
        output.follow(process)
        // Receives one message per event: if more messages are pending, the source fires again at once.
        messages.coordinate { [weak self] in _ = self?.receive() }
        exit.coordinate { [self] in
            while receive() {}
            output.end()
            exit.cancel()
            hangUp()
            ended(reap())
        }
    }

    /// Called with each message. Subclasses override this method.
    func received(_ message: Message, _ descriptors: [Descriptor]) {}

    /// Called once, after the last message. Subclasses override this method.
    func ended(_ end: WorkerEnd) {}

    /// Sends a message. Queues it while the worker reads too slowly, so that messages arrive in order.
    func send(_ message: some Encodable, descriptors: [Descriptor] = []) {
        guard channel != nil else { return }
        do {
            unsent.append(try WorkerPacket(message, descriptors: descriptors))
        } catch {
            Log.failure("worker \(process): \(error)")
            return terminate()
        }
        if unsent.count == 1 { sendOn() }
    }

    private func sendOn() {
        guard let channel else { return }
        do {
            while let next = unsent.first {
                try channel.send(next)
                unsent.removeFirst()
            }
            stopWaitingForRoom()
        } catch {
            switch error.code {
            case EAGAIN: waitForRoom(channel)
            // The kernel is out of memory, or too many descriptors are in flight. No event reports the end of the
            // shortage, so retry after a pause.
            case ENOBUFS, ENOMEM, ETOOMANYREFS:
                stopWaitingForRoom()
                Coordination.after(Self.pause) { [weak self] in self?.sendOn() }
            // The worker is gone; `exit` handles its end.
            case EPIPE, ECONNRESET, ENOTCONN: stopWaitingForRoom()
            default:
                Log.failure("worker \(process) can't receive its work, and is replaced: \(error)")
                terminate()
            }
        }
    }

    private func waitForRoom(_ channel: WorkerChannel) {
        guard room == nil else { return }
        room = ReadySource(coordinated: channel.socket, .writing)
        room?.coordinate { [weak self] in self?.sendOn() }
    }

    private func stopWaitingForRoom() {
        room?.cancel()
        room = nil
    }

    /// Limits the size of files that the worker writes. The worker itself can't raise the limit.
    func limitFiles(to bytes: Int64) { limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", bytes) }

    /// Limits the memory that the worker may allocate from now on.
    func limitMemory(to bytes: Int64) { limit(RLIMIT_DATA, "RLIMIT_DATA", bytes) }

    private func limit(_ resource: __rlimit_resource, _ name: String, _ bytes: Int64) {
        guard !isReaped, limits.updateValue(bytes, forKey: name) != bytes,
            clinux_limit(process, Int32(resource.rawValue), UInt64(bytes)) != 0
        else { return }
        Log.failure("worker \(process): \(SystemError("prlimit", name)), ignoring")
    }

    /// Closes the channel, which tells the worker to exit. Kills the worker if it does not exit in time.
    func leave() {
        hangUp()
        Coordination.after(Self.leaveGrace) { [weak self] in self?.terminate() }
    }

    private func hangUp() {
        messages.cancel()
        stopWaitingForRoom()
        unsent = []
        channel = nil
    }

    func terminate() {
        guard !isReaped else { return }
        killed = true
        kill(process, SIGKILL)
    }

    /// Kills the worker if a signal such as SIGSTOP has stopped it. Otherwise the worker's task would hang until its
    /// timeout.
    func endIfStopped() {
        let signal = isReaped ? 0 : clinux_stopped(process)
        guard signal > 0 else { return }
        stoppedBy = signal
        kill(process, SIGKILL)
    }

    /// Receives the next message and passes it to `received`. Returns false if no message is pending.
    private func receive() -> Bool {
        guard let channel else { return false }
        do {
            if let (message, descriptors) = try channel.receive(Message.self) {
                received(message, descriptors)
                return true
            }
            messages.cancel()
        } catch let error as SystemError {
            // Any error but EAGAIN means that the worker is gone; `exit` handles its end.
            if error.code != EAGAIN { messages.cancel() }
        } catch {
            distrust("something that can't be read (\(error))")
        }
        return false
    }

    /// Kills a worker that sends invalid messages, and ignores further messages.
    func distrust(_ said: String) {
        Log.failure("worker \(process) said \(said); it is replaced")
        terminate()
        hangUp()
    }

    private func reap() -> WorkerEnd {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        isReaped = true
        return WorkerEnd(status: status, stoppedBy: stoppedBy, wasKilledByUs: killed)
    }

    private static func spawn(
        _ program: String, _ arguments: [String], channel: Descriptor, output: Descriptor
    ) throws -> pid_t {
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        return try ChildProgram.start(
            [program] + arguments, environment: WorkerEnvironment.variables,
            streams: [nothing.number, output.number, output.number, channel.number])
    }
}
