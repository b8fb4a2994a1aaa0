import CNats
import Foundation
import Synchronization
import SystemCalls

/// A failed call of libnats.
struct LineError: Error, CustomStringConvertible {
    let status: natsStatus
    let description: String

    /// Call this right after the failed call, because libnats keeps only the text of each thread's latest failure.
    init(_ status: natsStatus) {
        self.status = status
        var last = NATS_OK
        let words = nats_GetLastError(&last).map { String(cString: $0) } ?? ""
        let plain = natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
        let saysMore = last == status && !words.isEmpty && !words.hasSuffix(plain)
        description = saysMore ? "\(plain) (\(words))" : plain
    }

    static func check(_ status: natsStatus) throws(LineError) {
        guard status == NATS_OK else { throw LineError(status) }
    }
}

/// A connection to a NATS server. A lost connection is not restored; the connector replaces it with a new `Line`.
///
/// `@unchecked`: libnats locks its connection, and the pointer does not change.
final class Line: @unchecked Sendable {
    let server: String
    /// Prefix of the subjects on which this node receives answers. The server lets no other node subscribe to these
    /// subjects.
    private let inboxes: String
    private let connection: OpaquePointer
    /// Addresses of the subscriptions, which `deinit` destroys.
    private let subscriptions = Mutex<[UInt]>([])

    /// Connects, and blocks until the connection is established or has failed. If the server forbids a message or a
    /// subscription of this node, libnats calls `refused` on a thread of its own, with the server's error text. When an
    /// established connection is lost, libnats calls `lost` once, also on a thread of its own.
    init(
        _ server: String, name: String, _ credentials: Credentials?,
        refused: @escaping @Sendable (String) -> Void, lost: @escaping @Sendable () -> Void
    ) throws(LineError) {
        (self.server, inboxes) = (server, "_INBOX.\(name)")
        var options: OpaquePointer?
        try LineError.check(natsOptions_Create(&options))
        defer { natsOptions_Destroy(options) }
        try LineError.check(natsOptions_SetURL(options, server))
        try LineError.check(natsOptions_SetName(options, "pipelined-fleet \(name)"))
        try LineError.check(natsOptions_SetTimeout(options, 5000))
        try LineError.check(natsOptions_SetPingInterval(options, 5000))
        try LineError.check(natsOptions_SetMaxPingsOut(options, 2))
        try LineError.check(natsOptions_SetAllowReconnect(options, false))
        try LineError.check(natsOptions_SetNoEcho(options, true))
        try LineError.check(natsOptions_SetCustomInboxPrefix(options, inboxes))
        if server.hasPrefix("tls://") || credentials != nil {
            try LineError.check(natsOptions_SetSecure(options, true))
        }
        // This object must stay alive while libnats connects, because libnats keeps a pointer to it without a reference
        // count.
        let shown = Shown(credentials)
        defer { withExtendedLifetime(shown) {} }
        if let credentials {
            try LineError.check(natsOptions_SetCATrustedCertificates(options, credentials.authority))
            let place = Unmanaged.passUnretained(shown).toOpaque()
            try LineError.check(
                natsOptions_SetUserCredentialsCallbacks(options, Shown.token, place, Shown.signature, place))
        }
        let call = Self.callers.withLock { callers in
            callers.last += 1
            callers.all[callers.last] = (refused, lost)
            return callers.last
        }
        do throws(LineError) {
            let failed: natsErrHandler = { connection, _, status, call in
                Line.hasFailed(UInt(bitPattern: call), status, connection)
            }
            try LineError.check(natsOptions_SetErrorHandler(options, failed, UnsafeMutableRawPointer(bitPattern: call)))
            let closed: natsConnectionHandler = { _, call in Line.hasClosed(UInt(bitPattern: call)) }
            try LineError.check(natsOptions_SetClosedCB(options, closed, UnsafeMutableRawPointer(bitPattern: call)))
            var made: OpaquePointer?
            try LineError.check(natsConnection_Connect(&made, options))
            guard let made else { throw LineError(NATS_ERR) }
            connection = made
        } catch {
            _ = Self.callers.withLock { $0.all.removeValue(forKey: call) }
            throw error
        }
    }

    /// Provides the token and the signature that libnats asks for while it connects.
    private final class Shown: Sendable {
        private let credentials: Credentials?

        init(_ credentials: Credentials?) { self.credentials = credentials }

        private static func at(_ place: UnsafeMutableRawPointer?) -> Credentials? {
            place.flatMap { Unmanaged<Shown>.fromOpaque($0).takeUnretainedValue().credentials }
        }

        static let token: natsUserJWTHandler = { token, _, place in
            token?.pointee = strdup(at(place)?.token ?? "")
            return NATS_OK
        }

        static let signature: natsSignatureHandler = { _, signature, length, nonce, place in
            guard let nonce else { return NATS_INVALID_ARG }
            return nats_Sign(at(place)?.seed ?? "", nonce, signature, length)
        }
    }

    private typealias Calls = (refused: @Sendable (String) -> Void, lost: @Sendable () -> Void)

    /// The callbacks of each connection, keyed by the number that libnats passes back. The first report that a
    /// connection is lost removes the connection's entry, so `lost` is called at most once.
    private static let callers = Mutex<(last: UInt, all: [UInt: Calls])>((0, [:]))

    private static func hasClosed(_ call: UInt) {
        let lost = callers.withLock { $0.all.removeValue(forKey: call)?.lost }
        lost?()
    }

    private static func hasFailed(_ call: UInt, _ status: natsStatus, _ connection: OpaquePointer?) {
        guard status == NATS_NOT_PERMITTED, let refused = callers.withLock({ $0.all[call]?.refused }) else { return }
        var words: UnsafePointer<CChar>?
        natsConnection_GetLastError(connection, &words)
        let text = words.map { String(cString: $0).printable } ?? "a message is not permitted"
        // The server forbids answers that are sent too late. Late answers are normal, so don't report them.
        if !text.contains("_INBOX.") { refused(text) }
    }

    private final class Heard: Sendable {
        let body: @Sendable (LineMessage) -> Void

        init(_ body: @escaping @Sendable (LineMessage) -> Void) { self.body = body }
    }

    deinit {
        for subscription in subscriptions.withLock({ $0 }) {
            natsSubscription_Destroy(OpaquePointer(bitPattern: subscription))
        }
        natsConnection_Destroy(connection)
    }

    var isClosed: Bool { natsConnection_IsClosed(connection) }

    func publish(_ bytes: [UInt8] = [], to subject: String, reply: String? = nil) throws(LineError) {
        let count = Int32(bytes.count)
        guard let reply else { return try LineError.check(natsConnection_Publish(connection, subject, bytes, count)) }
        try LineError.check(natsConnection_PublishRequest(connection, subject, reply, bytes, count))
    }

    /// Waits until the server has received all published messages, or `patience` has passed.
    func flush(within patience: Duration) {
        natsConnection_FlushTimeout(connection, Int64(patience / .milliseconds(1)))
    }

    /// Subscribes to `subject`. A separate thread calls `body` for one message after another, until the line is closed.
    func listen(to subject: String, _ body: @escaping @Sendable (LineMessage) -> Void) throws(LineError) {
        let box = Unmanaged.passRetained(Heard(body))
        let heard: natsMsgHandler = { _, _, message, box in
            guard let message, let box else { return }
            Unmanaged<Heard>.fromOpaque(box).takeUnretainedValue().body(LineMessage(message))
        }
        var subscription: OpaquePointer?
        do {
            try LineError.check(
                natsConnection_Subscribe(&subscription, connection, subject, heard, box.toOpaque()))
        } catch {
            box.release()
            throw error
        }
        _ = natsSubscription_SetOnCompleteCB(
            subscription, { box in if let box { Unmanaged<Heard>.fromOpaque(box).release() } }, box.toOpaque())
        let address = UInt(bitPattern: subscription)
        subscriptions.withLock { $0.append(address) }
    }

    fileprivate func subscription(to subject: String) throws(LineError) -> OpaquePointer {
        var subscription: OpaquePointer?
        try LineError.check(natsConnection_SubscribeSync(&subscription, connection, subject))
        guard let subscription else { throw LineError(NATS_ERR) }
        return subscription
    }

    /// A subject on which this node receives answers.
    func inbox(_ word: String) -> String { "\(inboxes).\(word)" }
}

/// A request to another node, which this node may send repeatedly. An answer to an earlier send counts, too.
///
/// `@unchecked`: libnats locks its subscription, and the pointer does not change.
final class Question: @unchecked Sendable {
    let line: Line
    private let inbox: String
    private let subscription: OpaquePointer

    init(on line: Line) throws(LineError) {
        (self.line, inbox) = (line, line.inbox("ask.\(Token.made())"))
        subscription = try line.subscription(to: inbox)
    }

    deinit { natsSubscription_Destroy(subscription) }

    /// Sends the request once, and waits for an answer.
    func ask(_ bytes: [UInt8], of subject: String, within patience: Duration) throws(LineError) -> LineMessage {
        try line.publish(bytes, to: subject, reply: inbox)
        var answer: OpaquePointer?
        try LineError.check(natsSubscription_NextMsg(&answer, subscription, Int64(patience / .milliseconds(1))))
        guard let answer else { throw LineError(NATS_ERR) }
        return LineMessage(answer)
    }
}

/// A received message.
///
/// `@unchecked`: the message never changes.
final class LineMessage: @unchecked Sendable {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) { self.message = message }

    deinit { natsMsg_Destroy(message) }

    var subject: String { natsMsg_GetSubject(message).map { String(cString: $0) } ?? "" }
    /// The subject for the answer, if the sender wants an answer.
    var reply: String? { natsMsg_GetReply(message).map { String(cString: $0) } }

    /// Whether this message is the server's report that no node subscribes to the request's subject.
    var isAbsence: Bool { natsMsg_IsNoResponders(message) }

    /// The bytes are valid only during the call of `body`.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(
                UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: Int(natsMsg_GetDataLength(message))))
        }
    }

    func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
        withBytes { try? JSONDecoder().decode(type, from: Data($0)) }
    }
}
