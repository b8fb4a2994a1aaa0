import CMicrohttpd
import DaemonRuntime
import Glibc
import SystemCalls

/// A request and its progress, on the server's queue. libmicrohttpd knows it by its number.
final class HTTPExchange {
    enum State {
        /// The file for its body is not open yet; libmicrohttpd has suspended the connection.
        case opening
        /// Its body is arriving.
        case coming
        /// The site is working on the answer; libmicrohttpd has suspended the connection.
        case waiting
        case answered(HTTPAnswer)
        case sending(HTTPStream)
        /// The client has gone.
        case abandoned
    }

    var request: HTTPRequest
    let connection: OpaquePointer?
    var handler: HTTPRoute.Handler?
    var state = State.coming
    /// Bytes of the body received so far.
    private var taken = 0
    /// Watches whether the client closes the connection.
    var end: ReadySource?
    var abandoned: (@Sendable () -> Void)?
    /// Whether its stream has nothing to send.
    var isAsleep = false

    init(_ request: HTTPRequest, _ connection: OpaquePointer?) {
        (self.request, self.connection) = (request, connection)
    }

    /// Whether libmicrohttpd waits for more of the body.
    var isComing: Bool { if case .coming = state { !isWhole } else { false } }

    /// Whether the client has gone before the end of the body, and everything that it sent is read.
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
            do { try file.write(part, called: "what was sent") } catch {
                return .failure(error.isFull ? 507 : 500, "\(error)")
            }
        }
        return nil
    }
}
