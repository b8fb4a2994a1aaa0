public import Foundation
import Glibc
import Synchronization
import SystemCalls

/// A server on loopback. The test writes each response itself, as slow, broken or wrong as it likes. Each connection
/// has its own thread and serves its requests one after the other.
public final class HTTPServer: Sendable {
    public struct Request: Sendable {
        public var method: String
        public var path: String
        /// Header fields, with lower-case names.
        public var headers: [String: String]
        /// The number of the connection that received the request, counted from 1.
        public var connection: Int
    }

    public struct Seen: Sendable {
        public var requests: [Request] = []
        public var connections = 0
        /// Connections that are open now.
        public var open = 0
        /// Requests that are being answered: the current and the highest number.
        public var busy = 0
        public var mostBusy = 0

        public func requests(_ path: String) -> [Request] { requests.filter { $0.path == path } }
    }

    public let port: Int
    private let listener: Descriptor
    private let state = Mutex((seen: Seen(), followers: [UUID: AsyncStream<Void>.Continuation]()))
    private let answer: @Sendable (Request, HTTPConnection) throws -> Void

    /// Listens on a free port of 127.0.0.1. `answer` runs on the connection's thread; if it throws, the connection is
    /// closed.
    public init(_ answer: @escaping @Sendable (Request, HTTPConnection) throws -> Void) throws {
        self.answer = answer
        listener = try Loopback.listen()
        port = try Loopback.port(of: listener)
        // The thread owns the descriptor, so that its number is not reused while the thread still runs.
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { break }
                let connection = Descriptor(owning: number)
                guard let server = self else { break }
                server.serve(connection)
            }
        }
    }

    deinit { shutdown(listener.number, Int32(SHUT_RDWR)) }

    public func url(_ path: String = "/", host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    public var seen: Seen { state.withLock { $0.seen } }

    /// Returns when the server's statistics satisfy `condition`. Checks it at each change.
    public func until(_ condition: @Sendable (Seen) -> Bool) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let key = UUID()
        state.withLock { $0.followers[key] = continuation }
        defer { state.withLock { $0.followers[key] = nil } }
        continuation.yield()
        for await _ in stream where condition(seen) { return }
    }

    private func change(_ body: (inout Seen) -> Void) {
        let followers = state.withLock { state in
            body(&state.seen)
            return Array(state.followers.values)
        }
        for follower in followers { follower.yield() }
    }

    // MARK: - On a connection's thread

    private func serve(_ socket: Descriptor) {
        change {
            $0.connections += 1
            $0.open += 1
        }
        let number = seen.connections
        Thread.detachNewThread { [self] in
            let connection = HTTPConnection(socket)
            while !connection.isClosed, let lines = connection.head() {
                let request = Self.request(lines, on: number)
                change {
                    $0.requests.append(request)
                    $0.busy += 1
                    $0.mostBusy = max($0.mostBusy, $0.busy)
                }
                do { try answer(request, connection) } catch { connection.close() }
                change { $0.busy -= 1 }
            }
            connection.close()
            change { $0.open -= 1 }
        }
    }

    private static func request(_ lines: [String], on connection: Int) -> Request {
        let words = (lines.first ?? "").split(separator: " ").map(String.init) + ["", ""]
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return Request(method: words[0], path: words[1], headers: headers, connection: connection)
    }
}

/// A connection through which a test answers.
///
/// `@unchecked`: only its connection's thread uses it.
public final class HTTPConnection: @unchecked Sendable {
    private let socket: Descriptor
    private var rest: [UInt8] = []
    private(set) var isClosed = false

    struct Gone: Error {}

    init(_ socket: Descriptor) { self.socket = socket }

    public func reply(
        _ status: Int = 200, _ headers: [String: String] = [:], _ body: Data = Data()
    ) throws {
        try begin(status, headers.merging(["Content-Length": "\(body.count)"]) { own, _ in own })
        try write(body)
    }

    public func begin(_ status: Int = 200, _ headers: [String: String] = [:]) throws {
        let lines = ["HTTP/1.1 \(status) So"] + headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        try write(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    public func write(_ text: String) throws { try write(Data(text.utf8)) }

    public func write(_ data: Data) throws {
        var left = data[...]
        while !left.isEmpty {
            let sent = left.withUnsafeBytes { send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { throw Gone() }
            left = left.dropFirst(sent)
        }
    }

    /// Returns the body of the request that was just read.
    public func body(of request: HTTPServer.Request) throws -> Data {
        let count = request.headers["content-length"].flatMap { Int($0) } ?? 0
        while rest.count < count {
            var room = [UInt8](repeating: 0, count: 16384)
            let got = recv(socket.number, &room, room.count, 0)
            guard got > 0 else { throw Gone() }
            rest += room[..<got]
        }
        defer { rest.removeFirst(count) }
        return Data(rest.prefix(count))
    }

    /// Waits until the client has closed the connection.
    public func waitForClose() {
        var byte: UInt8 = 0
        while recv(socket.number, &byte, 1, 0) > 0 {}
        close()
    }

    public func close() {
        isClosed = true
        shutdown(socket.number, Int32(SHUT_RDWR))
    }

    /// Returns the lines of the next request's header, or nil at EOF.
    fileprivate func head() -> [String]? {
        while true {
            let text = String(decoding: rest, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                rest = Array(text[end.upperBound...].utf8)
                return text[..<end.lowerBound].components(separatedBy: "\r\n")
            }
            var room = [UInt8](repeating: 0, count: 16384)
            let got = recv(socket.number, &room, room.count, 0)
            guard got > 0 else { return nil }
            rest += room[..<got]
        }
    }
}
