import DaemonRuntime
import SystemCalls

/// The content of a server.
protocol HTTPSite: Sendable {
    /// Decides from a request's headers how to handle it.
    func route(_ request: HTTPRequest) -> HTTPRoute
}

/// How a request is handled.
enum HTTPRoute: Sendable {
    typealias Handler = @Sendable (HTTPRequest, HTTPCall) -> Void

    /// Answers before any of the body is read.
    case refused(HTTPAnswer)
    /// Handles the request once its body, of at most `most` bytes, has arrived.
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

    /// Only the first answer counts.
    func answer(_ answer: HTTPAnswer) { server.async { $0.answer(id, answer) } }

    /// Calls `body` if the client closes before the end of the answer; watches the client's socket from now on.
    func whenAbandoned(_ body: @escaping @Sendable () -> Void) { server.async { $0.watch(id, body) } }
}
