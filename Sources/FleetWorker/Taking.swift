import Dispatch
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures of other nodes that are here.
final class Taking: Sendable {
    private struct State {
        var places = 0
        var taken: [Int: Taken] = [:]
        var last = 0
        /// Pictures that the supervisor has refused; other nodes may have them first.
        var refused: [LentKey: ContinuousClock.Instant] = [:]
        /// When this node's own pictures are offered again, others may ask first.
        var turnOfOthers: Range<ContinuousClock.Instant>?
    }

    private let supervisor: Supervisor
    private let membership: FleetMembership
    private let filters: Set<String>
    private let lines: Lines
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())
    /// Signalled when there may be something to take.
    let news = DispatchSemaphore(value: 0)

    /// The pause before a picture that is not for this node is offered again.
    private static let pause = Duration.seconds(1)
    /// The same for this node's own: time to find what lies behind them.
    private static let ownPause = Duration.milliseconds(500)
    /// Longer than another node that has room lets pass between two questions.
    private static let turn = Duration.seconds(2)
    private static let refusal = Duration.seconds(30)

    init(
        _ supervisor: Supervisor, _ membership: FleetMembership, _ lines: Lines, changed: @escaping @Sendable () -> Void
    ) {
        (self.supervisor, self.membership, self.lines) = (supervisor, membership, lines)
        (filters, self.changed) = (Set(membership.filters), changed)
    }

    var places: Int { state.withLock { $0.places } }
    var count: Int { state.withLock { $0.taken.count } }
    var hasRoom: Bool { state.withLock { $0.taken.count < $0.places } }
    /// The time for which this node should not ask: by chance it would get its own again, each time, while another waits.
    var turnOfOthers: Duration? {
        let now = ContinuousClock.now
        return state.withLock { $0.turnOfOthers.flatMap { $0.contains(now) ? $0.upperBound - now : nil } }
    }

    // MARK: - Orders

    func take(_ places: Int) {
        state.withLock { $0.places = max(0, places) }
        change()
    }

    func accept(_ id: Int, _ files: [Descriptor]) { taken(id)?.fetch(into: files) }

    func putOff(_ id: Int) { remove(id)?.giveBack(after: Self.pause) }

    func refuse(_ id: Int, _ reason: String) {
        guard let taken = remove(id) else { return }
        state.withLock { state in
            state.refused = state.refused.filter { $0.value > .now }
            state.refused[taken.key] = .now + Self.refusal
        }
        taken.giveBack(after: Self.pause)
    }

    /// The process ends: nothing waits until others find that out.
    func leaveAll() {
        let all = state.withLock { state in
            defer { (state.taken, state.places) = ([:], 0) }
            return Array(state.taken.values)
        }
        for taken in all { taken.giveBack(after: .zero) }
        if !all.isEmpty { lines.current?.flush(within: .seconds(1)) }
    }

    func progress(_ id: Int, _ done: Int64, _ total: Int64) { taken(id)?.progress(done, total) }

    func rendered(
        _ id: Int, _ header: PictureHeader, _ outputs: [RenderedOutput], _ file: FetchedFile?, _ files: [Descriptor]
    ) {
        taken(id)?.deliver(header, outputs, file, files)
    }

    func failed(_ id: Int, _ failure: WorkerFailure) { taken(id)?.fail(failure) }

    // MARK: -

    private func taken(_ id: Int) -> Taken? { state.withLock { $0.taken[id] } }

    private func remove(_ id: Int) -> Taken? {
        defer { change() }
        return forget(id)
    }

    private func forget(_ id: Int) -> Taken? { state.withLock { $0.taken.removeValue(forKey: id) } }

    private func change() {
        news.signal()
        changed()
    }

    /// Tells the server and the origins that work goes on.
    func showLife() {
        for taken in state.withLock({ Array($0.taken.values) }) { taken.showLife() }
    }

    /// Origins may not want some of what is here any more.
    func askWhetherWanted() {
        for taken in state.withLock({ Array($0.taken.values) }) { taken.askWhetherWanted() }
    }

    /// A message of the stream: a picture, unless a stranger has sent something else.
    func consider(_ message: LineMessage, _ engine: Engine) {
        guard let reply = message.reply, reply.hasPrefix("$JS.ACK.\(Subject.stream).") else { return }
        guard let key = LentKey(subject: message.subject), let job = message.decoded(LentJob.self),
            job.run == key.run, job.picture.id == key.id, Stranger.accepts(job.picture)
        else { return engine.terminate(reply) }
        if let known = state.withLock({ $0.taken.values.first { $0.key == key } }) { return known.comesAgain(reply) }
        guard key.origin != membership.name else { return returnOwn(reply, engine) }
        // By chance, so that another node that looks as often is not always late.
        guard job.picture.stages.isSubset(of: filters), !isRefused(key) else {
            return engine.returns(reply, after: .milliseconds(.random(in: 200...2500)))
        }
        guard let taken = add(key, job.picture, reply) else { return engine.returns(reply, after: .zero) }
        changed()
        guard !supervisor.send(.offered(taken.id, job.picture, origin: key.origin)) else { return }
        _ = remove(taken.id)
        engine.terminate(reply)
    }

    private func returnOwn(_ reply: String, _ engine: Engine) {
        let back = ContinuousClock.now + Self.ownPause
        state.withLock { state in
            let known = state.turnOfOthers.flatMap { $0.upperBound > .now ? $0.lowerBound : nil }
            state.turnOfOthers = min(known ?? back, back)..<back + Self.turn
        }
        engine.returns(reply, after: Self.ownPause)
    }

    private func isRefused(_ key: LentKey) -> Bool { state.withLock { $0.refused[key].map { $0 > .now } ?? false } }

    /// Nil when there is no room.
    private func add(_ key: LentKey, _ picture: LentPicture, _ reply: String) -> Taken? {
        state.withLock { state in
            guard state.taken.count < state.places else { return nil }
            state.last += 1
            let taken = Taken(state.last, key, picture, membership, lines, reply: reply) { [weak self] taken, end in
                guard let self, forget(taken.id) != nil else { return }
                // The supervisor hears of this place before it is offered the next picture.
                supervisor.send(end == .delivered ? .delivered(taken.id) : .withdrawn(taken.id))
                change()
            } fetched: { [supervisor] in
                supervisor.send(.fetched($0.id))
            }
            state.taken[taken.id] = taken
            return taken
        }
    }
}
