import CMicrohttpd
import DaemonRuntime
import Glibc
import SystemCalls

/// A request and what becomes of it, on the server's queue. libmicrohttpd keeps its number.
final class HTTPExchange {
    enum State {
        /// There is no file for its body yet, and libmicrohttpd does not look at the connection.
        case opening
        /// Its body is on its way.
        case coming
        /// The site has been asked, and libmicrohttpd does not look at the connection.
        case waiting
        case answered(HTTPAnswer)
        case sending(HTTPStream)
        /// Its client has gone.
        case abandoned
    }

    var request: HTTPRequest
    let connection: OpaquePointer?
    var handler: HTTPRoute.Handler?
    var state = State.coming
    /// As many bytes of its body have come.
    private var taken = 0
    /// Watches for the client's end.
    var end: ReadySource?
    var abandoned: (@Sendable () -> Void)?
    /// A stream with nothing to send.
    var isAsleep = false

    init(_ request: HTTPRequest, _ connection: OpaquePointer?) {
        (self.request, self.connection) = (request, connection)
    }

    /// Whether libmicrohttpd waits for more of its body.
    var isComing: Bool { if case .coming = state { !isWhole } else { false } }

    /// Whether its client has gone, and everything is read that it has sent.
    var hasBrokenOff: Bool {
        var byte: UInt8 = 0
        return isComing && recv(cmicrohttpd_socket(connection), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Whether its body has come to its end.
    var isWhole: Bool { taken >= request.length ?? 0 }

    /// Takes a part of its body, or says why that can't be.
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
