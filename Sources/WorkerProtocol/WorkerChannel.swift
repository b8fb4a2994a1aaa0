import Foundation
import Glibc
import Synchronization
public import SystemCalls

/// One end of the `SOCK_SEQPACKET` pair between supervisor and worker. Each packet is one message, as JSON or packed,
/// with its descriptors.
public struct WorkerChannel: Sendable {
    /// The descriptor number of the worker's end.
    public static let workerDescriptor: Int32 = 3
    /// Maximum length of a message in bytes. A socket's default send buffer has room for such a message.
    public static let longestMessage = 128 * 1024

    /// Maximum number of descriptors that a message carries, such as the files for a job's outputs.
    public static let mostDescriptors = 64

    public let socket: Descriptor
    private let room = MessageRoom()

    public init(_ socket: Descriptor) {
        self.socket = socket
    }

    public func send(_ message: some Encodable, descriptors: [Descriptor] = []) throws {
        try send(WorkerPacket(message, descriptors: descriptors))
    }

    public func send(_ packet: WorkerPacket) throws(SystemError) {
        try Socket.send(packet.bytes, descriptors: packet.descriptors, to: socket)
    }

    /// Receives the next message; nil if the other end has closed the channel.
    public func receive<Message: Decodable>(
        _ type: Message.Type
    ) throws -> (message: Message, descriptors: [Descriptor])? {
        let packet = try room.withBytes { bytes throws(SystemError) in
            try Socket.receive(into: bytes, most: Self.mostDescriptors, from: socket)
        }
        guard !packet.bytes.isEmpty else { return nil }
        guard !packet.truncated else { throw WorkerChannelError.tooLong(packet.bytes.count) }
        return (try Self.message(type, packet.bytes), packet.descriptors)
    }

    static func message<Message: Decodable>(_ type: Message.Type, _ bytes: [UInt8]) throws -> Message {
        // A JSON message begins with a brace.
        guard bytes.first != UInt8(ascii: "{"), let packable = type as? any PackedMessage.Type else {
            return try JSONDecoder().decode(type, from: Data(bytes))
        }
        var packed = try Unpacker(bytes)
        let message = try packable.init(&packed)
        try packed.end()
        guard let message = message as? Message else { throw PackedMessageError() }
        return message
    }

    /// Waits until a message arrives or the other end closes the channel. Returns false if neither happens within this
    /// time.
    public func isReady(within patience: Duration) -> Bool {
        var ready = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        return poll(&ready, 1, Int32(patience / .milliseconds(1))) > 0
    }
}

/// A reused buffer for the longest message. Most messages are short, so allocating such a buffer for each message would
/// cost more than handling the message.
private final class MessageRoom: Sendable {
    private struct Room: ~Copyable {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: WorkerChannel.longestMessage, alignment: 1)

        deinit { bytes.deallocate() }
    }

    private let room = Mutex(Room())

    func withBytes<Result>(
        _ body: (UnsafeMutableRawBufferPointer) throws(SystemError) -> sending Result
    ) throws(SystemError) -> sending Result {
        try room.withLock { room throws(SystemError) in try body(room.bytes) }
    }
}

public enum WorkerChannelError: Error, CustomStringConvertible {
    case tooLong(Int)

    public var description: String {
        switch self {
        case .tooLong(let length):
            "a worker's message of \(length) bytes is longer than the \(WorkerChannel.longestMessage) allowed"
        }
    }
}
