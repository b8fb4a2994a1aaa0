import Foundation
public import SystemCalls

/// A client's connection to the control socket: calls in turn, each answered before the next.
public final class ControlClient {
    private let socket: Descriptor
    private var received: [UInt8] = []

    public init(path: String) throws(SystemError) {
        socket = try Socket.connect(path)
    }

    /// Calls, and returns the one reply.
    public func call<Request: ControlCall>(_ call: Request, descriptors: [Descriptor] = []) throws -> Request.Reply {
        try send(call, more: nil, descriptors: descriptors)
        return try reply(Request.self).parameters
    }

    /// Calls with `more`, and hands over each reply until the last, or until `each` returns false.
    public func stream<Request: ControlCall>(_ call: Request, each: (Request.Reply) throws -> Bool) throws {
        try send(call, more: true, descriptors: [])
        while true {
            let answer = try reply(Request.self)
            guard try each(answer.parameters), answer.continues == true else { return }
        }
    }

    private func send<Request: ControlCall>(_ call: Request, more: Bool?, descriptors: [Descriptor]) throws {
        let frame = try Wire.frame(
            WireCall(method: "\(ControlInterface.name).\(Request.method)", parameters: call, more: more))
        var sent = try Socket.send(frame, descriptors: descriptors, to: socket)
        while sent < frame.count { sent += try Socket.send(frame[sent...], to: socket) }
    }

    private func reply<Request: ControlCall>(_: Request.Type) throws -> WireReply<Request.Reply> {
        let frame = try nextFrame()
        if let error = try? Wire.decode(WireError.self, frame) {
            throw ControlError(name: error.error, parameters: error.parameters ?? ErrorParameters())
        }
        return try Wire.decode(WireReply<Request.Reply>.self, frame)
    }

    private func nextFrame() throws -> [UInt8] {
        var searched = 0
        while true {
            if let end = received[searched...].firstIndex(of: Wire.terminator) {
                let frame = Array(received[..<end])
                received.removeFirst(end + 1)
                return frame
            }
            searched = received.count
            let packet = try Socket.receive(room: 64 * 1024, from: socket)
            guard !packet.bytes.isEmpty else { throw ConnectionClosed() }
            received += packet.bytes
        }
    }
}

/// The daemon went away in the middle of a conversation.
public struct ConnectionClosed: Error, CustomStringConvertible {
    public init() {}

    public var description: String { "the daemon closed the connection" }
}
