import Glibc
public import SystemCalls

/// A client's connection to the control socket, for one call at a time.
public final class ControlClient {
    /// Maximum size of an answer in bytes. A working daemon never sends a longer answer.
    private static let longestAnswer = 64 * 1024 * 1024

    /// The socket. Callers may poll it together with other descriptors; `receive` reads from it.
    public let socket: Descriptor
    private var frames = FrameBuffer()
    /// Descriptors that have arrived with answers, and that `takeFiles` has not returned yet.
    private var passed: [Descriptor] = []
    /// Maximum number of descriptors that one message may carry.
    private static let mostDescriptors = 64

    /// Connects to the control socket. If the user may not use it, connects to the read-only socket `look.sock` beside
    /// it.
    public init(path: String) throws(SystemError) {
        do { socket = try Socket.connect(path) } catch {
            guard error.code == EACCES, let look = try? Socket.connect(SocketAddress.look(beside: path)) else {
                throw error
            }
            socket = look
        }
    }

    /// Sets a timeout. If the daemon stays silent for longer than this, calls throw the error `EAGAIN`.
    public func wait(atMost seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for direction in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket.number, SOL_SOCKET, direction, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Makes a call, and returns its only reply.
    public func call<Request: ControlCall>(_ call: Request, descriptors: [Descriptor] = []) throws -> Request.Reply {
        try send(call, more: nil, descriptors: descriptors)
        return try nextAnswer(to: Request.self).parameters
    }

    /// Makes a call, and returns its reply and the descriptors that come with it.
    public func callForFiles<Request: ControlCall>(
        _ call: Request, descriptors: [Descriptor] = []
    ) throws -> (reply: Request.Reply, descriptors: [Descriptor]) {
        passed = []
        let reply = try self.call(call, descriptors: descriptors)
        return (reply, takeFiles())
    }

    /// Makes a call with `more`, and passes each reply to `each`. If `each` returns false or throws before the last
    /// reply, the connection can't be used for another call: discard the client.
    public func stream<Request: ControlCall>(_ call: Request, each: (Request.Reply) throws -> Bool) throws {
        try start(call)
        while true {
            let answer = try nextAnswer(to: Request.self)
            guard try each(answer.parameters), answer.continues else { return }
        }
    }

    /// Sends a call; `receive` returns its reply.
    public func begin<Request: ControlCall>(_ call: Request, descriptors: [Descriptor] = []) throws {
        try send(call, more: nil, descriptors: descriptors)
    }

    /// Returns the descriptors that have arrived with replies since the last call of this method.
    public func takeFiles() -> [Descriptor] {
        defer { passed = [] }
        return passed
    }

    /// Sends a call with `more`; `receive` returns its replies.
    public func start<Request: ControlCall>(_ call: Request) throws {
        try send(call, more: true, descriptors: [])
    }

    /// Waits for data. Returns the replies that are now complete (possibly none), and whether the call's last reply is
    /// among them.
    public func receive<Request: ControlCall>(_: Request.Type) throws -> (replies: [Request.Reply], isOver: Bool) {
        try fill()
        var replies: [Request.Reply] = []
        while let frame = frames.next() {
            let answer = try answer(to: Request.self, in: frame)
            replies.append(answer.parameters)
            if !answer.continues { return (replies, true) }
        }
        return (replies, false)
    }

    private func send<Request: ControlCall>(_ call: Request, more: Bool?, descriptors: [Descriptor]) throws {
        let frame = try Wire.frame(WireCall(method: Request.method, parameters: call, more: more))
        do {
            var sent = try Socket.send(frame, descriptors: descriptors, to: socket)
            while sent < frame.count { sent += try Socket.send(frame[sent...], to: socket) }
        } catch {
            guard Self.isGone(error) else { throw error }
            // The daemon may have sent an error before it closed the connection. The next read returns that error, or
            // throws `ConnectionClosed`.
        }
    }

    private func nextAnswer<Request: ControlCall>(to _: Request.Type) throws -> WireAnswer<Request.Reply> {
        while true {
            if let frame = frames.next() { return try answer(to: Request.self, in: frame) }
            try fill()
        }
    }

    private func answer<Request: ControlCall>(
        to _: Request.Type, in frame: ArraySlice<UInt8>
    ) throws -> WireAnswer<Request.Reply> {
        try Wire.decode(WireAnswer<Request.Reply>.self, frame)
    }

    private func fill() throws {
        let packet: Received
        do {
            packet = try Socket.receive(room: 256 * 1024, most: Self.mostDescriptors, from: socket)
        } catch {
            throw Self.isGone(error) ? ConnectionClosed() : error
        }
        guard !packet.bytes.isEmpty else { throw ConnectionClosed() }
        frames.append(packet.bytes)
        passed += packet.descriptors
        guard frames.count <= Self.longestAnswer || frames.hasFrame() else { throw EndlessAnswer() }
    }

    /// Whether the error means that the daemon has closed the connection. Both reading and writing may fail with either
    /// code.
    private static func isGone(_ error: any Error) -> Bool {
        guard let code = (error as? SystemError)?.code else { return false }
        return code == EPIPE || code == ECONNRESET
    }
}

/// The daemon has closed the connection during a call.
public struct ConnectionClosed: Error, CustomStringConvertible {
    public init() {}

    public var description: String { "the daemon closed the connection" }
}

/// The answer exceeds the maximum length, which no answer of a working daemon reaches.
public struct EndlessAnswer: Error, CustomStringConvertible {
    public var description: String { "an answer that does not end" }
}
