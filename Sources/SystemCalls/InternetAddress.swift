import Glibc

/// A numeric address with a port, such as `127.0.0.1:9188` or `[::1]:9188`. The host may also be `localhost`.
public struct InternetAddress: Sendable, Equatable, CustomStringConvertible {
    public let host: String
    public let port: UInt16

    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        // Without brackets, it is unclear where the port of an IPv6 address begins.
        guard !host.isEmpty, isBracketed == host.contains(":") else { return nil }
        (self.host, self.port) = (host == "localhost" ? "127.0.0.1" : String(host), port)
        guard numbers != nil else { return nil }
    }

    /// The local address of a socket, with the port that the kernel chose if port 0 was requested.
    public init?(of socket: Descriptor) {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let (room, flags) = (64, NI_NUMERICHOST | NI_NUMERICSERV)
        var (host, port) = ([CChar](repeating: 0, count: room), [CChar](repeating: 0, count: room))
        let isKnown = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { place in
                getsockname(socket.number, place.baseAddress, &length) == 0
                    && getnameinfo(
                        place.baseAddress, length, &host, socklen_t(room), &port, socklen_t(room), flags) == 0
            }
        }
        func text(_ letters: [CChar]) -> String {
            String(decoding: letters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        guard isKnown, let port = UInt16(text(port)) else { return nil }
        (self.host, self.port) = (text(host), port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach the address.
    public var isLoopback: Bool {
        guard let (family, bytes) = numbers else { return false }
        // In `bytes`, the address follows the family and the port, and in IPv6 also the flow label.
        return family == AF_INET ? bytes[4] == 127 : bytes[8..<24].elementsEqual([UInt8](repeating: 0, count: 15) + [1])
    }

    private var numbers: (family: Int32, bytes: [UInt8])? {
        var v4 = sockaddr_in()
        if inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
            (v4.sin_family, v4.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
            return (AF_INET, withUnsafeBytes(of: v4) { Array($0) })
        }
        var v6 = sockaddr_in6()
        if inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 {
            (v6.sin6_family, v6.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
            return (AF_INET6, withUnsafeBytes(of: v6) { Array($0) })
        }
        return nil
    }

    /// Opens a socket that listens at this address.
    public func listen(backlog: Int32 = 128) throws(SystemError) -> Descriptor {
        guard let (family, bytes) = numbers else { throw SystemError("bind", description, code: EINVAL) }
        let number = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw SystemError("socket", description) }
        let end = Descriptor(owning: number)
        var yes: Int32 = 1
        // Allow another process to listen at this address as soon as this process has ended.
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound = bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) { Glibc.bind(number, $0.baseAddress, socklen_t(bytes.count)) }
        }
        guard bound == 0 else { throw SystemError("bind", description) }
        guard Glibc.listen(number, backlog) == 0 else { throw SystemError("listen", description) }
        return end
    }
}
