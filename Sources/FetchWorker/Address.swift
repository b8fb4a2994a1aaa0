import Glibc

/// The IP address of a server.
struct Address: Sendable, Hashable, CustomStringConvertible {
    /// 4 bytes for IPv4, 16 bytes for IPv6.
    let bytes: [UInt8]

    init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }

    init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        // Drops the interface name at the end of a link-local address, such as `fe80::1%eth0`.
        let text = String(text.prefix { $0 != "%" })
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    private init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    var description: String {
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)).map { String(cString: $0) } ?? "?"
    }

    /// Whether the address is reachable from the whole Internet. An IPv6 address outside `global` counts as private,
    /// unless it contains a public IPv4 address.
    var isPublic: Bool { bytes.count == 4 ? isPublicFour : isPublicSix }

    private struct Block {
        let prefix: Address
        let length: Int

        init(_ text: String, _ length: Int) {
            prefix = Address(text) ?? Address([])
            self.length = length
        }

        func contains(_ address: Address) -> Bool {
            guard prefix.bytes.count == address.bytes.count else { return false }
            return (0..<length).allSatisfy { bit in
                let mask = UInt8(0x80) >> UInt8(bit % 8)
                return prefix.bytes[bit / 8] & mask == address.bytes[bit / 8] & mask
            }
        }
    }

    /// The special-purpose ranges in IANA's registries (RFC 6890 and later) that are not reachable from the whole
    /// Internet.
    private static let specialFour = [
        Block("0.0.0.0", 8),  // this network
        Block("10.0.0.0", 8),  // private
        Block("100.64.0.0", 10),  // shared space of Internet providers
        Block("127.0.0.0", 8),  // loopback
        Block("169.254.0.0", 16),  // link-local, including the metadata services of clouds
        Block("172.16.0.0", 12),  // private
        Block("192.0.0.0", 24),  // protocols
        Block("192.0.2.0", 24),  // documentation
        Block("192.88.99.0", 24),  // 6to4 relays
        Block("192.168.0.0", 16),  // private
        Block("198.18.0.0", 15),  // benchmarks
        Block("198.51.100.0", 24),  // documentation
        Block("203.0.113.0", 24),  // documentation
        Block("224.0.0.0", 4),  // multicast
        Block("240.0.0.0", 4),  // reserved, broadcast
    ]

    private var isPublicFour: Bool { !Self.specialFour.contains { $0.contains(self) } }

    private static let mapped = Block("::ffff:0:0", 96)
    private static let translated = Block("64:ff9b::", 96)
    private static let sixToFour = Block("2002::", 16)
    private static let global = Block("2000::", 3)
    /// Parts of `global` that are not reachable from the whole Internet.
    private static let specialSix = [
        Block("2001::", 23),  // protocols, Teredo
        Block("2001:db8::", 32),  // documentation
        Block("3fff::", 20),  // documentation
    ]

    /// Apart from addresses that contain an IPv4 address, only addresses in `global` can be public. Loopback,
    /// unspecified, link-local, site-local, unique local and multicast addresses are outside of `global`.
    private var isPublicSix: Bool {
        // Three IPv6 ranges contain IPv4 addresses. A connection to such an IPv6 address reaches the IPv4 address that
        // it contains.
        if Self.mapped.contains(self) || Self.translated.contains(self) { return Address(bytes[12...]).isPublic }
        if Self.sixToFour.contains(self) { return Address(bytes[2..<6]).isPublic }
        return Self.global.contains(self) && !Self.specialSix.contains { $0.contains(self) }
    }
}
