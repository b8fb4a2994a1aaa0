import CLinux
import DaemonRuntime
import Glibc
import SystemCalls
import WorkerProtocol

/// A worker's process, seen from the supervisor: it is started, limited, ended and awaited, and exchanges messages.
@Coordination
class WorkerProcess<Message: Decodable & Sendable> {
    /// The pause before a message that the kernel refused is sent again.
    private static var pause: Duration { .milliseconds(20) }

    /// How long a worker may take to end after its channel has been closed: it has nothing left to do.
    private static var leaveGrace: Duration { .seconds(10) }

    nonisolated let process: pid_t
    private(set) var killed = false
    private var stoppedBy: Int32?
    /// The limits that were set last, by their names.
    private var limits: [String: Int64] = [:]
    /// Another process may have its number by now.
    private var isReaped = false

    /// What it has used of the processors so far.
    var processorTime: Duration? {
        var (clock, time) = (clockid_t(), timespec())
        guard !isReaped, clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private var channel: WorkerChannel?
    /// Messages for which its socket has no room, in order.
    private var unsent: [WorkerPacket] = []
    /// Fires when the socket has room; nil when nothing waits for that.
    private var room: ReadySource?
    private let messages: ReadySource
    private let exit: ReadySource
    private let output: WorkerOutput

    /// Starts the process.
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
        // The source fires again at once while there are more.
        messages.coordinate { [weak self] in _ = self?.receive() }
        exit.coordinate { [self] in
            while receive() {}
            output.end()
            exit.cancel()
            hangUp()
            ended(reap())
        }
    }

    /// Called with each message. Overridden.
    func received(_ message: Message, _ descriptors: [Descriptor]) {}

    /// Called once, with how it ended, after the last message. Overridden.
    func ended(_ end: WorkerEnd) {}

    /// Messages arrive in the order of sending, and queue up when the worker reads too slowly.
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
            // The kernel lacks memory, or too many descriptors are in flight: no event tells when that has passed.
            case ENOBUFS, ENOMEM, ETOOMANYREFS:
                stopWaitingForRoom()
                Coordination.after(Self.pause) { [weak self] in self?.sendOn() }
            // The worker is gone; its exit is reported apart.
            case EPIPE, ECONNRESET, ENOTCONN: stopWaitingForRoom()
            default:
                Log.failure("worker \(process) can't be told its work, and is replaced: \(error)")
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

    /// The worker can write no file that is longer, and can't change that itself.
    func limitFiles(to bytes: Int64) { limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", bytes) }

    /// The most that it may allocate from now on.
    func limitMemory(to bytes: Int64) { limit(RLIMIT_DATA, "RLIMIT_DATA", bytes) }

    private func limit(_ resource: __rlimit_resource, _ name: String, _ bytes: Int64) {
        guard !isReaped, limits.updateValue(bytes, forKey: name) != bytes,
            clinux_limit(process, Int32(resource.rawValue), UInt64(bytes)) != 0
        else { return }
        Log.failure("worker \(process): \(SystemError("prlimit", name)), ignoring")
    }

    /// Closes the channel, which ends the worker; kills it if it does not end.
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

    /// Kills it if it has been stopped: it would not end otherwise, and its work would wait for a timeout.
    func endIfStopped() {
        let signal = isReaped ? 0 : clinux_stopped(process)
        guard signal > 0 else { return }
        stoppedBy = signal
        kill(process, SIGKILL)
    }

    /// Takes the next message; false when there is none.
    private func receive() -> Bool {
        guard let channel else { return false }
        do {
            if let (message, descriptors) = try channel.receive(Message.self) {
                received(message, descriptors)
                return true
            }
            messages.cancel()
        } catch let error as SystemError {
            // Every error but "nothing more now" means that the worker is gone; its exit is reported apart.
            if error.code != EAGAIN { messages.cancel() }
        } catch {
            distrust("something that can't be read (\(error))")
        }
        return false
    }

    /// Replaces a worker that talks nonsense, and hears nothing more of it.
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
