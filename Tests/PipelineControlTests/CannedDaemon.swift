import Foundation
import Glibc
import PipelineControl
import Synchronization
import SystemCalls

/// A fake daemon that speaks the real protocol on a real socket. The test prepares its replies.
final class CannedDaemon: Sendable {
    typealias Answer = @Sendable (_ call: [UInt8], Conversation) throws -> Void

    /// Memory that is shared by the serving threads, which may outlive the fake daemon itself.
    private final class Memory: Sendable {
        let answers = Mutex<[String: Answer]>([:])
        let heard = Mutex<[(method: String, frame: [UInt8])]>([])
    }

    let root: String
    let path: String
    private let listener: Descriptor
    private let memory = Memory()

    init() throws {
        root = NSTemporaryDirectory() + "pipectl-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: root + "/run", withIntermediateDirectories: true)
        path = root + "/run/control.sock"
        listener = try Socket.listen(path)
        on(Call.FindBatch.self) { call, conversation in
            let batch = Control.Batch(id: Int(call.batch) ?? 3, name: Int(call.batch) == nil ? call.batch : nil)
            try conversation.reply(Call.FindBatch.Reply(batch: batch, others: 0))
        }
        Thread.detachNewThread { [listener, memory] in
            while let connection = try? Socket.accept(listener) {
                Thread.detachNewThread { Self.serve(connection, memory) }
            }
        }
    }

    deinit {
        shutdown(listener.number, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: root)
    }

    /// Lets `answer` handle each call of this type.
    func on<Call: ControlCall>(
        _: Call.Type, _ answer: @escaping @Sendable (Call, Conversation) throws -> Void
    ) {
        memory.answers.withLock { answers in
            answers[Call.method] = { frame, conversation in
                try answer(Wire.decode(WireCall<Call>.self, frame).parameters, conversation)
            }
        }
    }

    /// Lets `answer` handle each call of the method with this name. `answer` gets the undecoded bytes of the call.
    func onAny(_ method: String, _ answer: @escaping Answer) {
        memory.answers.withLock { $0["\(ControlInterface.control.name).\(method)"] = answer }
    }

    /// Replies to each call of this type with these replies. The last of them ends the call.
    func answer<Call: ControlCall>(_: Call.Type, _ replies: Call.Reply...) {
        on(Call.self) { _, conversation in
            for (index, reply) in replies.enumerated() {
                try conversation.reply(reply, continues: index < replies.count - 1 ? true : nil)
            }
        }
    }

    /// Returns the calls of this type that were received so far.
    func heard<Call: ControlCall>(_: Call.Type) throws -> [Call] {
        try memory.heard.withLock { $0 }.filter { $0.method == Call.method }.map {
            try Wire.decode(WireCall<Call>.self, $0.frame).parameters
        }
    }

    private static func serve(_ connection: Descriptor, _ memory: Memory) {
        _ = fcntl(connection.number, F_SETFL, 0)
        var frames = FrameBuffer()
        var passed: [Descriptor] = []
        while let packet = try? Socket.receive(room: 4096, from: connection), !packet.bytes.isEmpty {
            frames.append(packet.bytes)
            passed += packet.descriptors
            while let frame = frames.next() {
                guard let head = try? Wire.decode(WireCallHead.self, frame) else { return }
                memory.heard.withLock { $0.append((head.method, Array(frame))) }
                let answer = memory.answers.withLock { $0[head.method] }
                let conversation = Conversation(socket: connection, passed: passed)
                passed = []
                do {
                    guard let answer else { throw ControlError.methodNotFound(head.method) }
                    try answer(Array(frame), conversation)
                } catch let error as ControlError {
                    guard (try? conversation.fail(error)) != nil else { return }
                } catch {
                    return
                }
            }
        }
    }
}

/// A call that is being answered.
struct Conversation: Sendable {
    let socket: Descriptor
    /// The descriptors passed with the call.
    let passed: [Descriptor]

    func reply(_ reply: some Codable & Sendable, continues: Bool? = nil) throws {
        try send(Wire.frame(WireReply(parameters: reply, continues: continues)))
    }

    func fail(_ error: ControlError) throws {
        try send(Wire.frame(WireError(error)))
    }

    /// Closes the connection, as if the daemon had died.
    func hangUp() {
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    func send(_ frame: [UInt8]) throws {
        var rest = frame[...]
        while !rest.isEmpty { rest = rest.dropFirst(try Socket.send(rest, to: socket)) }
    }
}
