import Glibc
public import SystemCalls

/// Creates sockets on 127.0.0.1.
public enum Loopback {
    /// Listens on a free port, with a backlog of `waiting` connections.
    public static func listen(waiting: Int32 = 512) throws -> Descriptor {
        let listener = make()
        let bound = withAddress(0) { bind(listener.number, $0, $1) == 0 && Glibc.listen(listener.number, waiting) == 0 }
        guard bound else { throw SystemError("listen", "127.0.0.1") }
        return listener
    }

    public static func port(of listener: Descriptor) throws -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isNamed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener.number, $0, &length) == 0 }
        }
        guard isNamed else { throw SystemError("getsockname", "127.0.0.1") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    public static func connect(to port: Int) throws -> Descriptor {
        let end = make()
        guard withAddress(port, { Glibc.connect(end.number, $0, $1) == 0 }) else {
            throw SystemError("connect", "127.0.0.1:\(port)")
        }
        return end
    }

    /// Starts a connection without waiting for the server to accept it.
    public static func knock(at port: Int) throws -> Descriptor {
        let end = make()
        try end.setNonblocking()
        _ = withAddress(port) { Glibc.connect(end.number, $0, $1) }
        return end
    }

    private static func make() -> Descriptor {
        Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    }

    private static func withAddress<Result>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
        -> Result
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
