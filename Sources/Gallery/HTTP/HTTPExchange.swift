import CMicrohttpd
import Glibc
import ServiceProgram
import SystemCalls

/// A request and its progress. Used only on the server's queue. libmicrohttpd refers to an exchange by a number.
final class HTTPExchange {
    enum State {
        /// The server waits for a file for the request's body; libmicrohttpd has suspended the connection.
        case opening
        /// The request's body is arriving.
        case coming
        /// The site is working on the answer; libmicrohttpd has suspended the connection.
        case waiting
        case answered(HTTPAnswer)
        case sending(HTTPStream)
        /// The client has disconnected.
        case abandoned
    }

    var request: HTTPRequest
    let connection: OpaquePointer?
    var handler: HTTPRoute.Handler?
    var state = State.coming
    /// Bytes of the body received so far.
    private var taken = 0
    /// Watches the client's socket, to notice a disconnection.
    var end: ReadySource?
    var abandoned: (@Sendable () -> Void)?
    /// Whether the connection is suspended because the answer's stream has nothing to send.
    var isAsleep = false

    init(_ request: HTTPRequest, _ connection: OpaquePointer?) {
        (self.request, self.connection) = (request, connection)
    }

    /// Whether part of the body is still missing.
    var isComing: Bool { if case .coming = state { !isWhole } else { false } }

    /// Whether the client disconnected before it had sent the whole body. True only after the server has read all the
    /// bytes that the client did send.
    var hasBrokenOff: Bool {
        var byte: UInt8 = 0
        return isComing && recv(cmicrohttpd_socket(connection), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Whether the whole body has arrived.
    var isWhole: Bool { taken >= request.length ?? 0 }

    /// Stores a part of the body; returns the answer to send if that fails.
    func take(_ part: [UInt8]) -> HTTPAnswer? {
        taken += part.count
        switch request.body {
        case .bytes(let bytes):
            request.body = .bytes(bytes + part)
        case .file(let file):
            do { try file.write(part, called: "the upload") } catch {
                return .failure(error.isFull ? 507 : 500, "\(error)")
            }
        }
        return nil
    }
}
