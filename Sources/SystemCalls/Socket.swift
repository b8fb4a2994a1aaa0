import CLinux
import Glibc

public struct Received: Sendable {
    public let bytes: [UInt8]
    public let descriptors: [Descriptor]
    /// Whether more bytes or descriptors arrived than the buffers had room for. The excess is lost.
    public let truncated: Bool
}

/// Sends and receives messages with descriptors, on a Unix socket of any type.
public enum Socket {
    /// Maximum length of a socket's path, in bytes: the kernel's address structure has room for no more.
    public static let longestPath = 107

    /// Sends `bytes` and `descriptors`. Returns the number of bytes sent, which may be less than `bytes.count` on a
    /// stream socket.
    @discardableResult
    public static func send(
        _ bytes: some Collection<UInt8>, descriptors: [Descriptor] = [], to socket: Descriptor
    ) throws(SystemError) -> Int {
        let numbers = descriptors.map(\.number)
        let buffer = Array(bytes)
        let sent = withExtendedLifetime(descriptors) {
            clinux_send(socket.number, buffer, buffer.count, numbers, numbers.count)
        }
        guard sent >= 0 else { throw SystemError("send", "socket \(socket.number)") }
        return sent
    }

    /// Receives at most `room` bytes and `most` descriptors. An empty result means that the peer has closed the socket.
    public static func receive(room: Int, most: Int = 16, from socket: Descriptor) throws(SystemError) -> Received {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { room.deallocate() }
        return try receive(into: room, most: most, from: socket)
    }

    /// Like `receive(room:most:from:)`, but receives into the caller's buffer.
    public static func receive(
        into room: UnsafeMutableRawBufferPointer, most: Int = 16, from socket: Descriptor
    ) throws(SystemError) -> Received {
        var numbers = [Int32](repeating: -1, count: most)
        var count = most
        var truncated: Int32 = 0
        let got = clinux_receive(socket.number, room.baseAddress, room.count, &numbers, &count, &truncated)
        guard got >= 0 else { throw SystemError("receive", "socket \(socket.number)") }
        return Received(
            bytes: Array(room.prefix(got)), descriptors: numbers.prefix(count).map(Descriptor.init(owning:)),
            truncated: truncated != 0)
    }

    private static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(SystemError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError("connect", path, code: ENAMETOOLONG)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func stream() throws(SystemError) -> Descriptor {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("socket", "AF_UNIX") }
        return Descriptor(owning: number)
    }

    public static func connect(_ path: String) throws(SystemError) -> Descriptor {
        let end = try stream()
        guard try withAddress(path, { Glibc.connect(end.number, $0, $1) }) == 0 else {
            throw SystemError("connect", path)
        }
        return end
    }

    /// Opens a socket that listens at `path`. Replaces an existing file.
    public static func listen(_ path: String, backlog: Int32 = 128) throws(SystemError) -> Descriptor {
        let end = try stream()
        unlink(path)
        guard try withAddress(path, { Glibc.bind(end.number, $0, $1) }) == 0 else { throw SystemError("bind", path) }
        guard Glibc.listen(end.number, backlog) == 0 else { throw SystemError("listen", path) }
        return end
    }

    /// Accepts the next connection of a listening socket; nil if none is pending.
    public static func accept(_ listener: Descriptor) throws(SystemError) -> Descriptor? {
        let number = clinux_accept(listener.number)
        if number >= 0 { return Descriptor(owning: number) }
        if errno == EAGAIN || errno == EINTR || errno == ECONNABORTED { return nil }
        throw SystemError("accept", "socket \(listener.number)")
    }
}
