import CMicrohttpd
import Dispatch
import Glibc
import ServiceProgram
import SystemCalls

/// Serves a site at a listening socket. libmicrohttpd runs only when its descriptors are ready, so an idle server never
/// wakes this process.
actor HTTPServer: QueueActor {
    struct Limits {
        /// Maximum concurrent clients. Further clients wait in the socket's backlog.
        var clients = 512
        /// Maximum bytes of a request's headers; also the size of a client's send buffer.
        var headers = 16 << 10
        /// Timeout in seconds. The server disconnects a client that neither sends nor reads anything for this long, or
        /// that takes longer to send the complete head of a request.
        var silence = 30
    }

    nonisolated let executor: QueueExecutor
    private let site: any HTTPSite
    private let limits: Limits
    private var daemon: OpaquePointer?
    private var source: ReadySource?
    private var exchanges: [UInt: HTTPExchange] = [:]
    private var last: UInt = 0
    private var turnAt: DispatchTime?
    /// For each client, the time when it connected or when its latest request finished; nil while a request is in
    /// progress.
    private var clients: [UInt: DispatchTime?] = [:]
    private var isLooking = false
    /// Number of connections from which `linger` is reading.
    private var lingering = 0

    /// Interval of the checks for slow clients. The checks stop while no client can be slow.
    private static let interval = DispatchTimeInterval.seconds(1)

    /// Several servers may share one executor.
    init(_ site: any HTTPSite, limits: Limits, on executor: QueueExecutor) {
        (self.site, self.limits, self.executor) = (site, limits, executor)
    }

    nonisolated func begin(at listener: Descriptor) throws(HTTPServerError) {
        let problem = queue.sync { assumeIsolated { $0.open(listener) } }
        if let problem { throw HTTPServerError(description: problem) }
    }

    private func open(_ listener: Descriptor) -> String? {
        // libmicrohttpd closes the descriptor that it gets.
        let own = fcntl(listener.number, F_DUPFD_CLOEXEC, 0)
        daemon = cmicrohttpd_start(
            own,
            { context, connection, url, method, version, part, length, place in
                guard let server = HTTPServer.at(context), let connection, let url, let method, let version, let length,
                    let place
                else { return cmicrohttpd_no }
                if let known = place.pointee {
                    let id = UInt(bitPattern: known)
                    let piece = Array(UnsafeRawBufferPointer(start: part, count: length.pointee))
                    if piece.isEmpty { return server.assumeIsolated { $0.goOn(id) } ? cmicrohttpd_yes : cmicrohttpd_no }
                    // If the server does not take the piece now, libmicrohttpd offers it again later.
                    if server.assumeIsolated({ $0.take(piece, of: id) }) { length.pointee = 0 }
                    return cmicrohttpd_yes
                }
                let (headers, hasPlainLines) = HTTPHeaders.all(of: connection, from: method, to: version)
                let request = HTTPRequest(
                    method: String(cString: method), path: String(cString: url),
                    query: HTTPHeaders.query(of: connection), version: String(cString: version), headers: headers,
                    hasPlainLines: hasPlainLines)
                let address = UInt(bitPattern: connection)
                let (id, isGood) = server.assumeIsolated { $0.take(request, on: OpaquePointer(bitPattern: address)) }
                place.pointee = UnsafeMutableRawPointer(bitPattern: id)
                return isGood ? cmicrohttpd_yes : cmicrohttpd_no
            },
            { context, _, place, _ in
                guard let server = HTTPServer.at(context), let place, let known = place.pointee else { return }
                let id = UInt(bitPattern: known)
                server.assumeIsolated { $0.over(id) }
                place.pointee = nil
            },
            { context, connection, _, news in
                let address = UInt(bitPattern: connection)
                HTTPServer.at(context)?.assumeIsolated { server in
                    cmicrohttpd_has_come(news) ? server.come(address) : server.gone(address)
                }
            },
            Unmanaged.passUnretained(self).toOpaque(), UInt32(limits.clients), UInt32(limits.silence), limits.headers)
        guard let daemon else { return "libmicrohttpd does not start" }
        let ready = fcntl(cmicrohttpd_ready(daemon), F_DUPFD_CLOEXEC, 0)
        guard ready >= 0 else { return "libmicrohttpd has no descriptor to wait for" }
        source = ReadySource(Descriptor(owning: ready), queue: queue)
        source?.activate { [unowned self] in assumeIsolated { $0.turn() } }
        return nil
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
        context.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - Event loop

    private func turn() {
        guard let daemon else { return }
        turnAt = nil
        // If a run closed a client, runs libmicrohttpd again, because only the next run accepts clients from the
        // backlog.
        var clients: UInt32
        repeat {
            clients = cmicrohttpd_clients(daemon)
            MHD_run(daemon)
        } while cmicrohttpd_clients(daemon) < clients
        var wait: UInt64 = 0
        // libmicrohttpd has a timeout only while clients are connected.
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

    /// Handles a request whose headers have arrived. `isGood` is false if the connection must be closed. If the server
    /// answers before it has read the body, it closes the connection after the answer.
    private func take(_ request: HTTPRequest, on connection: OpaquePointer?) -> (id: UInt, isGood: Bool) {
        last += 1
        clients.updateValue(nil, forKey: UInt(bitPattern: connection))
        let exchange = HTTPExchange(request, connection)
        exchanges[last] = exchange
        if let refusal = request.refusal { return (last, send(refusal, of: last, exchange)) }
        switch site.route(request) {
        case .refused(let answer): return (last, send(answer, of: last, exchange))
        case .body(let most, let handler):
            if let refusal = request.refusal(longestBody: most) { return (last, send(refusal, of: last, exchange)) }
            exchange.handler = handler
            lookSoon()
        case .file(let begin, let handler):
            exchange.handler = handler
            guard let length = request.length else {
                return (last, send(.failure(411, "a request needs a Content-Length"), of: last, exchange))
            }
            exchange.state = .opening
            MHD_suspend_connection(connection)
            let id = last
            begin(length) { file in self.async { $0.opened(id, file) } }
        }
        return (last, true)
    }

    /// Called when the site has opened a file for the request's body, or has refused the request.
    private func opened(_ id: UInt, _ file: Result<Descriptor, HTTPRefusal>) {
        guard let exchange = exchanges[id], case .opening = exchange.state else { return }
        switch file {
        case .success(let file):
            exchange.request.body = .file(file)
            exchange.state = .coming
            lookSoon()
        case .failure(let refusal): exchange.state = .answered(refusal.answer)
        }
        MHD_resume_connection(exchange.connection)
        turn()
    }

    /// Handles a part of the body. Returns false if libmicrohttpd must offer the part again later.
    private func take(_ part: [UInt8], of id: UInt) -> Bool {
        guard let exchange = exchanges[id] else { return true }
        switch exchange.state {
        case .opening: return false
        case .coming:
            if let refusal = exchange.take(part) { exchange.state = .answered(refusal) }
            return true
        case .waiting, .answered, .sending, .abandoned: return true
        }
    }

    /// Called by libmicrohttpd when the body is complete, or after the connection was resumed. Returns false to close
    /// the connection.
    private func goOn(_ id: UInt) -> Bool {
        guard let exchange = exchanges[id] else { return false }
        switch exchange.state {
        case .answered(let answer): return send(answer, of: id, exchange)
        case .opening, .waiting, .sending: break
        case .abandoned: return false
        case .coming:
            // If the connection was suspended until a file for the body was open, libmicrohttpd makes this call before
            // it reads the body.
            guard exchange.isWhole else { return true }
            exchange.state = .waiting
            MHD_suspend_connection(exchange.connection)
            exchange.handler?(exchange.request, HTTPCall(server: self, id: id))
        }
        return true
    }

    func answer(_ id: UInt, _ answer: HTTPAnswer) {
        guard let exchange = exchanges[id], case .waiting = exchange.state else { return }
        exchange.state = .answered(answer)
        MHD_resume_connection(exchange.connection)
        turn()
    }

    /// Calls `body` when the client disconnects. The server watches the socket itself, because libmicrohttpd ignores a
    /// connection that it has suspended.
    func watch(_ id: UInt, _ body: @escaping @Sendable () -> Void) {
        guard let exchange = exchanges[id] else { return body() }
        exchange.abandoned = body
        let socket = fcntl(cmicrohttpd_socket(exchange.connection), F_DUPFD_CLOEXEC, 0)
        guard exchange.end == nil, socket >= 0 else { return }
        let source = ReadySource(Descriptor(owning: socket), queue: queue)
        exchange.end = source
        source.activate { [unowned self] in assumeIsolated { $0.looked(id, socket) } }
    }

    /// Called when the socket of a waiting client becomes readable: the client has either disconnected or sent its next
    /// request.
    private func looked(_ id: UInt, _ socket: Int32) {
        guard let exchange = exchanges[id], let end = exchange.end else { return }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        end.cancel()
        exchange.end = nil
        guard count <= 0 else { return }
        switch exchange.state {
        case .waiting:
            exchange.state = .abandoned
            MHD_resume_connection(exchange.connection)
        case .sending(let stream):
            stream.end()
            wake(id)
        case .opening, .coming, .answered, .abandoned: break
        }
        turn()
    }

    private func over(_ id: UInt) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        let client = UInt(bitPattern: exchange.connection)
        if clients.keys.contains(client) { come(client) }
        exchange.end?.cancel()
        if case .sending(let stream) = exchange.state { stream.end() }
        exchange.abandoned?()
        if !exchange.isWhole { linger(on: cmicrohttpd_socket(exchange.connection)) }
    }

    /// Maximum time that the server spends on discarding the body of a request that it answered early.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Discards the remaining body of a request that was answered early. Stops when the client disconnects, or after
    /// `patience`. libmicrohttpd closes the connection after such an answer. If nobody read the remaining body, the
    /// kernel would reset the connection, and a client that is still sending could lose the answer.
    private func linger(on socket: Int32) {
        let own = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return }
        let rest = Descriptor(owning: own)
        guard lingering < limits.clients else { return }
        lingering += 1
        let source = ReadySource(rest, queue: queue)
        source.activate {
            var bytes = [UInt8](repeating: 0, count: 1 << 18)
            let count = recv(rest.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { source.cancel() }
        }
        after(Self.patience) { server in
            source.cancel()
            server.lingering -= 1
        }
    }

    // MARK: - Slow clients

    /// Called when a client has connected, or its request has finished. From now on, the client must send its next
    /// request's head in time.
    private func come(_ client: UInt) {
        clients.updateValue(.now(), forKey: client)
        lookSoon()
    }

    private func gone(_ client: UInt) { clients.removeValue(forKey: client) }

    private func lookSoon() {
        let mayBeSlow = clients.values.contains { $0 != nil } || exchanges.values.contains(where: \.isComing)
        guard !isLooking, mayBeSlow else { return }
        isLooking = true
        after(Self.interval) { server in
            server.isLooking = false
            server.look()
        }
    }

    /// Disconnects clients that take too long to send the head of a request, even if they keep sending single bytes.
    /// libmicrohttpd's own timeout restarts with every byte. That timeout also misses some clients that disconnect
    /// right after their last bytes.
    private func look() {
        let late = DispatchTime.now() - .seconds(limits.silence)
        let slow = clients.filter { $0.value.map { $0 <= late } ?? false }.keys.compactMap {
            OpaquePointer(bitPattern: $0)
        }
        let gone = exchanges.values.filter(\.hasBrokenOff).map(\.connection)
        for client in slow + gone { shutdown(cmicrohttpd_socket(client), Int32(SHUT_RDWR)) }
        lookSoon()
    }

    // MARK: - Answers

    private func send(_ answer: HTTPAnswer, of id: UInt, _ exchange: HTTPExchange) -> Bool {
        let answer = answer.readable(by: exchange.request)
        let response: OpaquePointer?
        switch answer.body {
        case .bytes(let bytes): response = cmicrohttpd_answer(bytes, bytes.count)
        case .file(let file, let bytes):
            // libmicrohttpd closes the descriptor that it gets.
            response = cmicrohttpd_file(fcntl(file.number, F_DUPFD_CLOEXEC, 0), UInt64(bytes))
        case .stream(let stream):
            exchange.state = .sending(stream)
            response = cmicrohttpd_stream(
                { context, _, place, room in
                    guard let context, let place else { return cmicrohttpd_failed }
                    let end = Unmanaged<HTTPStreamEnd>.fromOpaque(context).takeUnretainedValue()
                    guard let piece = end.server.assumeIsolated({ $0.next(of: end.id, most: room) }) else {
                        return cmicrohttpd_over
                    }
                    UnsafeMutableRawBufferPointer(start: place, count: room).copyBytes(from: piece)
                    return piece.count
                },
                { context in
                    if let context { Unmanaged<HTTPStreamEnd>.fromOpaque(context).release() }
                }, Unmanaged.passRetained(HTTPStreamEnd(self, id)).toOpaque())
            stream.attach { [weak self] in self?.async { $0.wake(id) } }
        }
        guard let response else { return false }
        defer { MHD_destroy_response(response) }
        for header in answer.allHeaders {
            guard cmicrohttpd_add(response, header.name, header.value) else { return false }
        }
        return cmicrohttpd_send(exchange.connection, UInt32(answer.status), response)
    }

    /// Returns the stream's next bytes. If there are none, suspends the connection until `wake`.
    private func next(of id: UInt, most: Int) -> [UInt8]? {
        guard let exchange = exchanges[id], case .sending(let stream) = exchange.state,
            let piece = stream.next(most: most)
        else { return nil }
        if piece.isEmpty {
            exchange.isAsleep = true
            MHD_suspend_connection(exchange.connection)
        }
        return piece
    }

    private func wake(_ id: UInt) {
        guard let exchange = exchanges[id], exchange.isAsleep else { return }
        exchange.isAsleep = false
        MHD_resume_connection(exchange.connection)
        turn()
    }
}

/// Identifies a stream to libmicrohttpd's callbacks.
private final class HTTPStreamEnd: Sendable {
    let server: HTTPServer
    let id: UInt

    init(_ server: HTTPServer, _ id: UInt) { (self.server, self.id) = (server, id) }
}

/// Why a server can't start.
struct HTTPServerError: Error, CustomStringConvertible {
    let description: String
}
