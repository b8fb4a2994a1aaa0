import Dispatch
import PipelineControl
import ServiceProgram

/// Sends the daemon's events to all connected browsers. The browsers share one Watch call and one Progress call to the
/// daemon. Without browsers, there is no call.
actor EventHub: QueueActor {
    nonisolated let executor: QueueExecutor
    private let calls: ControlCalls
    private var streams: [ObjectIdentifier: Listener] = [:]
    /// The latest events, oldest first, for browsers that reconnect after a short interruption.
    private var latest: [(cursor: Int, text: [UInt8])] = []
    /// The cursor from which the Watch call resumes after the daemon was unreachable. Nil until a cursor is known.
    private var cursor: Int?
    private var watch: ControlCalls.Ticket?
    private var progress: ControlCalls.Ticket?
    /// Number of the latest Progress call. Answers of earlier calls are ignored.
    private var progressTries = 0
    private var status: [UInt8]?
    private var latestProgress: [UInt8]?
    /// Whether the daemon answers, according to the last event sent to the browsers.
    private var isThere = true
    private var isAsking = false
    private var hasChanged = false
    /// Whether the daemon is in a fleet. If it is, its status is requested regularly, because no event reports changes
    /// of other nodes.
    private var hasFleet = false
    /// A number that changes when the first browser joins and when the last browser leaves. Answers to calls from an
    /// earlier round are ignored.
    private var round = 0

    private struct Listener {
        let stream: HTTPStream
        /// Whether the login or the token of the stream's request still holds.
        let isWelcome: @Sendable () -> Bool
    }

    private static let mostLatest = 4096
    private static let pause = DispatchTimeInterval.seconds(1)
    private static let beat = DispatchTimeInterval.seconds(15)

    init(_ calls: ControlCalls, on executor: QueueExecutor) { (self.calls, self.executor) = (calls, executor) }

    /// Adds a browser's stream, unless there are already `most` streams. Calls `done` with whether the stream was
    /// added. The stream receives the stored events after the cursor `after`, then new events. When `isWelcome` has
    /// become false, the next `beat` ends the stream.
    nonisolated func join(
        _ stream: HTTPStream, after: Int?, most: Int, while isWelcome: @escaping @Sendable () -> Bool,
        _ done: @escaping @Sendable (Bool) -> Void
    ) {
        async { hub in
            guard hub.streams.count < most else { return done(false) }
            hub.add(Listener(stream: stream, isWelcome: isWelcome), after: after)
            done(true)
        }
    }

    nonisolated func leave(_ stream: HTTPStream) { async { $0.drop(stream) } }

    private func add(_ listener: Listener, after: Int?) {
        let isFirst = streams.isEmpty
        let stream = listener.stream
        streams[ObjectIdentifier(stream)] = listener
        stream.write(Self.text(": here\n\n"))
        if isFirst { return begin(after: after) }
        if let status { stream.write(status) }
        if let latestProgress { stream.write(latestProgress) }
        guard let after, after < cursor ?? .max else { return }
        guard let oldest = latest.first, oldest.cursor <= after + 1 else {
            return stream.write(Self.text("event: lost\ndata: {}\n\n"))
        }
        for event in latest where event.cursor > after { stream.write(event.text) }
    }

    private func drop(_ stream: HTTPStream) {
        stream.end()
        guard streams.removeValue(forKey: ObjectIdentifier(stream)) != nil, streams.isEmpty else { return }
        round += 1
        for ticket in [watch, progress] { ticket?.withdraw() }
        (watch, progress, status, latestProgress, cursor) = (nil, nil, nil, nil, nil)
        hasFleet = false
        latest = []
    }

    private func tell(_ piece: [UInt8]) {
        for listener in streams.values { listener.stream.write(piece) }
    }

    // MARK: - The daemon

    private func begin(after: Int?) {
        round += 1
        (cursor, isThere) = (after, true)
        follow()
        let round = round
        beat(round)
    }

    /// Sends a comment line regularly. Behind a proxy or after a silent network failure, a dead connection is noticed
    /// only when something is sent.
    private func beat(_ round: Int) {
        after(Self.beat) { hub in
            guard hub.round == round else { return }
            hub.tell(Self.text(": here\n\n"))
            for listener in hub.streams.values where !listener.isWelcome() { hub.drop(listener.stream) }
            if hub.round == round { hub.beat(round) }
        }
    }

    /// Starts the Watch call from a known cursor. Without a cursor, the call would miss events that happen between the
    /// browser's request for the list and the start of the call.
    private func follow() {
        guard let cursor else { return beginHere() }
        let round = round
        watch = calls.follow(Call.Watch(cursor: cursor)) { [weak self] happening in
            self?.async { hub in
                guard hub.round == round else { return }
                switch happening {
                case .replies(let replies, _): hub.take(replies.flatMap(\.events))
                case .over: hub.lost(.away("the daemon has ended the watch"))
                case .failed(let why): hub.lost(why)
                }
            }
        }
        followProgress()
        look()
    }

    /// Starts the Progress call. Restarts it after a pause if it ends while the Watch call continues.
    private func followProgress() {
        progressTries += 1
        let (round, mine) = (round, progressTries)
        progress = calls.follow(Call.Progress()) { [weak self] happening in
            self?.async { hub in
                guard hub.round == round, hub.progressTries == mine else { return }
                guard case .replies(let replies, _) = happening else {
                    hub.progress = nil
                    return hub.after(Self.pause) { hub in
                        if hub.round == round, hub.progressTries == mine, hub.watch != nil { hub.followProgress() }
                    }
                }
                guard let last = replies.last else { return }
                hub.latestProgress = Self.piece("progress", last)
                if let piece = hub.latestProgress { hub.tell(piece) }
            }
        }
    }

    private func beginHere() {
        let round = round
        calls.call(Call.Status()) { [weak self] answer in
            self?.async { hub in
                guard hub.round == round else { return }
                switch answer {
                case .success(let answered):
                    hub.cursor = answered.reply.status.cursor
                    hub.follow()
                case .failure(let why): hub.lost(why)
                }
            }
        }
    }

    private func lost(_ why: NoAnswer) {
        for ticket in [watch, progress] { ticket?.withdraw() }
        (watch, progress) = (nil, nil)
        tellDaemon(isThere: false, "\(why)")
        let round = round
        after(Self.pause) { hub in if hub.round == round, hub.watch == nil { hub.follow() } }
    }

    private func tellDaemon(isThere: Bool, _ why: String) {
        guard isThere != self.isThere else { return }
        self.isThere = isThere
        if let piece = Self.piece("daemon", DaemonNews(there: isThere, why: why)) { tell(piece) }
    }

    private func take(_ events: [Control.Event]) {
        tellDaemon(isThere: true, "")
        for event in events {
            cursor = event.cursor
            guard event.kind != "lost" else {
                latest = []
                tell(Self.text("event: lost\ndata: {}\n\n"))
                continue
            }
            guard let json = try? Wire.encode(event) else { continue }
            let piece = Self.text("id: \(event.cursor)\ndata: ") + json + Self.text("\n\n")
            latest.append((event.cursor, piece))
            tell(piece)
        }
        if latest.count > 2 * Self.mostLatest { latest.removeFirst(latest.count - Self.mostLatest) }
        look()
    }

    /// Requests the status and sends it to the browsers if it has changed, at most once a second.
    private func look() {
        guard !isAsking else {
            hasChanged = true
            return
        }
        (isAsking, hasChanged) = (true, false)
        let round = round
        calls.call(Call.Status()) { [weak self] answer in
            self?.async { hub in
                if hub.round == round, case .success(let answered) = answer {
                    hub.tellDaemon(isThere: true, "")
                    let piece = Self.piece("status", answered.reply.status)
                    if let piece, piece != hub.status { hub.tell(piece) }
                    hub.status = piece
                    hub.hasFleet = answered.reply.status.fleet != nil
                }
                hub.after(Self.pause) { hub in
                    hub.isAsking = false
                    if hub.hasChanged || hub.hasFleet, !hub.streams.isEmpty { hub.look() }
                }
            }
        }
    }

    // MARK: - Text

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func piece(_ name: String, _ value: some Encodable) -> [UInt8]? {
        (try? Wire.encode(value)).map { text("event: \(name)\ndata: ") + $0 + text("\n\n") }
    }
}

private struct DaemonNews: Encodable {
    var there: Bool
    var why: String
}
