import CMicrohttpd

/// The names and values that libmicrohttpd has read of a request.
enum HTTPHeaders {
    static func all(of connection: OpaquePointer) -> [HTTPRequest.Header] {
        let found = Unmanaged.passRetained(Found())
        cmicrohttpd_headers(connection, take, found.toOpaque())
        return found.takeRetainedValue().all
    }

    /// A name that comes twice has its last value.
    static func query(of connection: OpaquePointer) -> [String: String] {
        let found = Unmanaged.passRetained(Found())
        cmicrohttpd_query(connection, take, found.toOpaque())
        return Dictionary(found.takeRetainedValue().all.map { ($0.name, $0.value) }) { $1 }
    }

    /// A value may hold a zero byte, so the lengths count.
    private static let take: MHD_KeyValueIteratorN = { context, _, name, nameLength, value, length in
        guard let context, let name else { return cmicrohttpd_yes }
        Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().all.append(
            HTTPRequest.Header(name: text(name, nameLength), value: value.map { text($0, length) } ?? ""))
        return cmicrohttpd_yes
    }

    private static func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    private final class Found {
        var all: [HTTPRequest.Header] = []
    }
}
