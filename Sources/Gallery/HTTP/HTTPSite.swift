import ServiceProgram
import SystemCalls

/// The content that a server serves.
protocol HTTPSite: Sendable {
    /// Decides how to handle a request, before its body has arrived.
    func route(_ request: HTTPRequest) -> HTTPRoute
}

/// How a request is handled.
enum HTTPRoute: Sendable {
    typealias Handler = @Sendable (HTTPRequest, HTTPCall) -> Void

    /// Sends this answer without reading the body.
    case refused(HTTPAnswer)
    /// Reads a body of at most `most` bytes into memory, then handles the request.
    case body(most: Int, Handler)
    /// Writes the body into the file that `begin` provides, then handles the request.
    case file(
        begin: @Sendable (_ bytes: Int, _ done: @escaping @Sendable (Result<Descriptor, HTTPRefusal>) -> Void) -> Void,
        Handler)

    /// Handles a request without a body.
    static func plain(_ handler: @escaping Handler) -> HTTPRoute { .body(most: 0, handler) }
}

struct HTTPRefusal: Error {
    let answer: HTTPAnswer
}

/// A request that waits for its answer.
struct HTTPCall: Sendable {
    let server: HTTPServer
    let id: UInt

    /// Sends the answer. Only the first answer to a request counts.
    func answer(_ answer: HTTPAnswer) { server.async { $0.answer(id, answer) } }

    /// Watches the client's socket, and calls `body` if the client disconnects before it has received the whole answer.
    func whenAbandoned(_ body: @escaping @Sendable () -> Void) { server.async { $0.watch(id, body) } }
}
