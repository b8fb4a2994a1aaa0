import CMicrohttpd
import Glibc

/// Reads a request's headers and query from libmicrohttpd.
enum HTTPHeaders {
    /// The headers, and whether their lines are plain. Lines are plain if the first header directly follows the request
    /// line, and each header is exactly one line that ends with CRLF. The request line begins at `method`, and its last
    /// word is `version`.
    static func all(
        of connection: OpaquePointer, from method: UnsafePointer<CChar>, to version: UnsafePointer<CChar>
    ) -> (headers: [HTTPRequest.Header], hasPlainLines: Bool) {
        let found = Unmanaged.passRetained(Found(end: UInt(bitPattern: version) + UInt(strlen(version))))
        cmicrohttpd_headers(connection, take, found.toOpaque())
        let all = found.takeRetainedValue()
        let end = all.end + UInt(lineEnd + lineEnd)
        let isWhole = end == UInt(bitPattern: method) + UInt(cmicrohttpd_head(connection))
        return (all.all, !cmicrohttpd_joins_lines || all.isInLine && isWhole)
    }

    private static let lineEnd = 2

    /// The query's parameters. If a name is repeated, the last value counts.
    static func query(of connection: OpaquePointer) -> [String: String] {
        let found = Unmanaged.passRetained(Found(end: 0))
        cmicrohttpd_query(connection, take, found.toOpaque())
        return Dictionary(found.takeRetainedValue().all.map { ($0.name, $0.value) }) { $1 }
    }

    /// Collects a header or parameter. Relies on the given lengths, because a value may contain a zero byte.
    private static let take: MHD_KeyValueIteratorN = { context, _, name, nameLength, value, length in
        guard let context, let name else { return cmicrohttpd_yes }
        let found = Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
        found.all.append(HTTPRequest.Header(name: text(name, nameLength), value: value.map { text($0, length) } ?? ""))
        found.isInLine = found.isInLine && UInt(bitPattern: name) == found.end + UInt(lineEnd)
        found.end = value.map { UInt(bitPattern: $0) + UInt(length) } ?? 0
        return cmicrohttpd_yes
    }

    private static func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    private final class Found {
        var all: [HTTPRequest.Header] = []
        /// The address where the last collected line ends, before its CRLF.
        var end: UInt
        var isInLine = true

        init(end: UInt) { self.end = end }
    }
}
