import Foundation
import Glibc
import PipelineControl
import SystemCalls
import Testing

/// A client of the control socket that can send any bytes.
final class RawClient {
    let socket: Descriptor
    private var frames = FrameBuffer()

    init(_ daemon: DaemonFixture, socket name: String = "run/control.sock") throws {
        socket = try Socket.connect(daemon.path(name))
        // If no reply arrives within this time, the read fails instead of blocking the test for ever.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket.number, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    static func call(_ method: String, _ parameters: String = "{}", more: Bool = false) -> [UInt8] {
        let name = method.contains(".") ? method : "\(ControlInterface.control.name).\(method)"
        return Array(#"{"method":"\#(name)","more":\#(more),"parameters":\#(parameters)}"#.utf8) + [0]
    }

    func send(_ bytes: [UInt8], _ descriptors: [Descriptor] = []) throws {
        var sent = try Socket.send(bytes, descriptors: descriptors, to: socket)
        while sent < bytes.count { sent += try Socket.send(bytes[sent...], to: socket) }
    }

    /// Returns the next reply, or nil if the daemon has closed the connection.
    func answer() throws -> [String: Any]? {
        while true {
            if let frame = frames.next() {
                return try #require(try JSONSerialization.jsonObject(with: Data(frame)) as? [String: Any])
            }
            do {
                let packet = try Socket.receive(room: 65536, from: socket)
                if packet.bytes.isEmpty { return nil }
                frames.append(packet.bytes)
            } catch {
                if error.code == ECONNRESET { return nil }
                throw error
            }
        }
    }

    func ask(
        _ method: String, _ parameters: String = "{}", more: Bool = false, _ descriptors: [Descriptor] = []
    ) throws -> [String: Any] {
        try send(Self.call(method, parameters, more: more), descriptors)
        return try #require(try answer(), "closed instead of answering \(method) \(parameters.prefix(200))")
    }

    /// Reads until EOF. Returns true if the daemon closes the connection, and false after the timeout.
    func isClosed() -> Bool {
        do {
            while try answer() != nil {}
            return true
        } catch {
            return false
        }
    }

    /// Closes the sending side of the connection.
    func endSending() { shutdown(socket.number, Int32(SHUT_WR)) }
}

extension [String: Any] {
    /// The error's name without the interface's prefix.
    var error: String? { (self["error"] as? String)?.split(separator: ".").last.map(String.init) }
    var parameters: [String: Any] { self["parameters"] as? [String: Any] ?? [:] }
}
