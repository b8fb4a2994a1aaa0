import DaemonRuntime
import Dispatch
import PipelineControl

/// Sends events to all browsers. While there are any, they share one Watch and one Progress call to the daemon.
actor EventHub: QueueActor {
    nonisolated let executor: QueueExecutor
    private let calls: ControlCalls
    private var streams: [ObjectIdentifier: HTTPStream] = [:]
    /// The latest events, oldest first, for browsers that were briefly disconnected.
    private var latest: [(cursor: Int, text: [UInt8])] = []
    /// The cursor at which the Watch resumes after the daemon was lost; nil before its first event.
    private var cursor: Int?
    private var watch: ControlCalls.Ticket?
    private var progress: ControlCalls.Ticket?
    /// Counts the Progress calls: only answers of the latest call are used.
    private var progressTries = 0
    private var status: [UInt8]?
    private var latestProgress: [UInt8]?
    /// Whether the daemon answers, as last told to the browsers.
    private var isThere = true
    private var isAsking = false
    private var hasChanged = false
    /// Whether the daemon is in a fleet: no events report changes of its nodes.
    private var hasFleet = false
    /// Distinguishes periods with browsers: the first browser and the end of the last browser each start a new one.
    private var round = 0

    private static let mostLatest = 4096
    private static let pause = DispatchTimeInterval.seconds(1)
    private static let beat = DispatchTimeInterval.seconds(15)

    init(_ calls: ControlCalls, on executor: QueueExecutor) { (self.calls, self.executor) = (calls, executor) }

    /// Calls `done` with whether there was room. The stream then gets new events, and past events `after` that cursor.
    nonisolated func join(
        _ stream: HTTPStream, after: Int?, most: Int, _ done: @escaping @Sendable (Bool) -> Void
    ) {
        async { hub in
            guard hub.streams.count < most else { return done(false) }
            hub.add(stream, after: after)
            done(true)
        }
    }

    nonisolated func leave(_ stream: HTTPStream) { async { $0.drop(stream) } }

    private func add(_ stream: HTTPStream, after: Int?) {
        let isFirst = streams.isEmpty
        streams[ObjectIdentifier(stream)] = stream
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
        for stream in streams.values { stream.write(piece) }
    }

    // MARK: - The daemon

    private func begin(after: Int?) {
        round += 1
        (cursor, isThere) = (after, true)
        follow()
        let round = round
        beat(round)
    }

    /// Through a proxy, or after a silent loss, a dead connection is only noticed when something is sent.
    private func beat(_ round: Int) {
        after(Self.beat) { hub in
            guard hub.round == round else { return }
            hub.tell(Self.text(": here\n\n"))
            hub.beat(round)
        }
    }

    /// Follows from a known cursor. A Watch from the daemon's present cursor would miss the events between a browser's
    /// reading of the list and the call.
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

    /// Starts the Progress call, and restarts it if it alone ends while events continue.
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

    /// Requests the status after events, at most once a second.
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
