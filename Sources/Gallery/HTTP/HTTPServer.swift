import CMicrohttpd
import DaemonRuntime
import Dispatch
import Glibc
import SystemCalls

/// Serves a site at a listening socket: libmicrohttpd, which is told when its descriptors are ready. While nobody asks,
/// nothing wakes this process.
actor HTTPServer: QueueActor {
    /// A request and what becomes of it. libmicrohttpd keeps its number.
    private struct Exchange {
        enum State {
            /// Its body is on its way.
            case coming
            /// The site has been asked, and libmicrohttpd does not look at the connection.
            case waiting
            case answered(HTTPAnswer)
        }

        let request: HTTPRequest
        let connection: OpaquePointer?
        var state = State.coming
    }

    struct Limits {
        /// Clients at once; others wait in the socket's backlog.
        var clients = 64
        /// The bytes of a request's headers, and of what is on its way to a client.
        var headers = 16 << 10
        /// A client that neither sends nor reads for so long is closed.
        var silence = 30
    }

    nonisolated let executor: QueueExecutor
    private let site: any HTTPSite
    private let limits: Limits
    private var daemon: OpaquePointer?
    private var source: ReadySource?
    private var exchanges: [UInt: Exchange] = [:]
    private var last: UInt = 0
    private var turnAt: DispatchTime?

    /// Servers may share an executor.
    init(_ site: any HTTPSite, limits: Limits, on executor: QueueExecutor) {
        (self.site, self.limits, self.executor) = (site, limits, executor)
    }

    nonisolated func begin(at listener: Descriptor) throws(HTTPServerError) {
        let problem = queue.sync { assumeIsolated { $0.open(listener) } }
        if let problem { throw HTTPServerError(description: problem) }
    }

    private func open(_ listener: Descriptor) -> String? {
        // libmicrohttpd closes what it is given.
        let own = fcntl(listener.number, F_DUPFD_CLOEXEC, 0)
        daemon = cmicrohttpd_start(
            own,
            { context, connection, url, method, version, _, length, place in
                guard let connection, let url, let method, let version, let length, let place else {
                    return cmicrohttpd_no
                }
                let (server, isPart) = (HTTPServer.at(context), length.pointee > 0)
                length.pointee = 0
                if let known = place.pointee {
                    let id = UInt(bitPattern: known)
                    return server.assumeIsolated { isPart || $0.goOn(id) } ? cmicrohttpd_yes : cmicrohttpd_no
                }
                let request = HTTPRequest(
                    method: String(cString: method), path: String(cString: url), version: String(cString: version),
                    headers: HTTPServer.headers(of: connection))
                let address = UInt(bitPattern: connection)
                let (id, isGood) = server.assumeIsolated { $0.take(request, on: OpaquePointer(bitPattern: address)) }
                place.pointee = UnsafeMutableRawPointer(bitPattern: id)
                return isGood ? cmicrohttpd_yes : cmicrohttpd_no
            },
            { context, _, place, _ in
                guard let place, let known = place.pointee else { return }
                let id = UInt(bitPattern: known)
                HTTPServer.at(context).assumeIsolated { $0.exchanges[id] = nil }
                place.pointee = nil
            },
            Unmanaged.passUnretained(self).toOpaque(), UInt32(limits.clients), UInt32(limits.silence), limits.headers)
        guard let daemon else { return "libmicrohttpd does not start" }
        let ready = fcntl(cmicrohttpd_ready(daemon), F_DUPFD_CLOEXEC, 0)
        guard ready >= 0 else { return "libmicrohttpd has no descriptor to wait for" }
        source = ReadySource(Descriptor(owning: ready), queue: queue)
        source?.activate { [unowned self] in assumeIsolated { $0.turn() } }
        return nil
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
        guard let context else { preconditionFailure("libmicrohttpd has lost its context") }
        return Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: - Turns

    private func turn() {
        guard let daemon else { return }
        turnAt = nil
        // Only the run after the one that closes a client lets in who waits for room.
        var clients: UInt32
        repeat {
            clients = cmicrohttpd_clients(daemon)
            MHD_run(daemon)
        } while cmicrohttpd_clients(daemon) < clients
        var wait: UInt64 = 0
        // It has a timeout while there are clients, and none while there are not.
        guard cmicrohttpd_waits(daemon, &wait) else { return }
        turn(within: .milliseconds(Int(min(wait, 60_000))))
    }

    private func turn(within time: DispatchTimeInterval) {
        let moment = DispatchTime.now() + time
        guard moment < turnAt ?? .distantFuture else { return }
        turnAt = moment
        after(time) { if $0.turnAt == moment { $0.turn() } }
    }

    // MARK: - Requests

    /// The headers have come. What is answered now, before its body, is the last on its connection. False closes it.
    private func take(_ request: HTTPRequest, on connection: OpaquePointer?) -> (id: UInt, isGood: Bool) {
        last += 1
        exchanges[last] = Exchange(request: request, connection: connection)
        let refusal = request.refusal(longestBody: site.longestBody)
        return (last, refusal.map { send($0, to: connection) } ?? true)
    }

    /// The body is over, or the connection goes on. False closes it.
    private func goOn(_ id: UInt) -> Bool {
        guard let exchange = exchanges[id] else { return false }
        switch exchange.state {
        case .answered(let answer): return send(answer, to: exchange.connection)
        case .waiting: break
        case .coming:
            exchanges[id]?.state = .waiting
            MHD_suspend_connection(exchange.connection)
            site.answer(exchange.request) { answer in self.async { $0.answer(id, answer) } }
        }
        return true
    }

    private func answer(_ id: UInt, _ answer: HTTPAnswer) {
        guard let exchange = exchanges[id], case .waiting = exchange.state else { return }
        exchanges[id]?.state = .answered(answer)
        MHD_resume_connection(exchange.connection)
        turn()
    }

    private func send(_ answer: HTTPAnswer, to connection: OpaquePointer?) -> Bool {
        guard let response = cmicrohttpd_answer(answer.body, answer.body.count) else { return false }
        defer { MHD_destroy_response(response) }
        let type = HTTPRequest.Header(name: "Content-Type", value: answer.type)
        for header in [type] + answer.headers + HTTPAnswer.common {
            guard cmicrohttpd_add(response, header.name, header.value) else { return false }
        }
        return cmicrohttpd_send(connection, UInt32(answer.status), response)
    }

    private static func headers(of connection: OpaquePointer) -> [HTTPRequest.Header] {
        let found = Unmanaged.passRetained(Headers())
        cmicrohttpd_headers(
            connection,
            { context, _, name, value in
                guard let context, let name else { return cmicrohttpd_yes }
                Unmanaged<Headers>.fromOpaque(context).takeUnretainedValue().all.append(
                    HTTPRequest.Header(name: String(cString: name), value: value.map { String(cString: $0) } ?? ""))
                return cmicrohttpd_yes
            }, found.toOpaque())
        return found.takeRetainedValue().all
    }
}

private final class Headers {
    var all: [HTTPRequest.Header] = []
}

/// Why nothing is served.
struct HTTPServerError: Error, CustomStringConvertible {
    let description: String
}
