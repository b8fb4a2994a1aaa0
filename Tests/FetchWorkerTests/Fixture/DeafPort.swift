import Glibc
import SystemCalls

/// A port of loopback that takes no connection, and refuses none: its queue is full.
final class DeafPort {
    private var sockets: [Descriptor] = []
    let url: String

    init() throws {
        func make() -> Descriptor {
            Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        }
        let listener = make()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        sockets = [listener]
        var others: [Descriptor] = []
        let bound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener.number, address, length) == 0, listen(listener.number, 0) == 0,
                    getsockname(listener.number, address, &length) == 0
                else { return false }
                for _ in 1...4 {
                    let other = make()
                    _ = try? other.setNonblocking()
                    _ = connect(other.number, address, length)
                    others.append(other)
                }
                return true
            }
        }
        guard bound else { throw SystemError("listen", "127.0.0.1") }
        sockets += others
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/"
    }
}
