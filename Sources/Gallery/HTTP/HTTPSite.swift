import DaemonRuntime
import SystemCalls

/// What a server serves.
protocol HTTPSite: Sendable {
    /// Decides by the headers of a request what becomes of it.
    func route(_ request: HTTPRequest) -> HTTPRoute
}

/// What becomes of a request.
enum HTTPRoute: Sendable {
    typealias Handler = @Sendable (HTTPRequest, HTTPCall) -> Void

    /// It is answered before anything of its body is read.
    case refused(HTTPAnswer)
    /// It is handled when its body, of at most so many bytes, has come.
    case body(most: Int, Handler)
    /// Its body goes into a file, of which there is one once `begin` has been called back; then it is handled.
    case file(
        begin: @Sendable (_ bytes: Int, _ done: @escaping @Sendable (Result<Descriptor, HTTPRefusal>) -> Void) -> Void,
        Handler)

    /// It is handled, and has no body.
    static func plain(_ handler: @escaping Handler) -> HTTPRoute { .body(most: 0, handler) }
}

struct HTTPRefusal: Error {
    let answer: HTTPAnswer
}

/// A request that waits for its answer.
struct HTTPCall: Sendable {
    let server: HTTPServer
    let id: UInt

    /// The first answer counts.
    func answer(_ answer: HTTPAnswer) { server.async { $0.answer(id, answer) } }

    /// Calls `body` when the client closes before the end of the answer. Its other end is watched from then on.
    func whenAbandoned(_ body: @escaping @Sendable () -> Void) { server.async { $0.watch(id, body) } }
}
