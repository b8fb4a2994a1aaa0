import Foundation
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures of other nodes that this node has taken. Each picture occupies one of this node's places.
final class Guests: Sendable {
    private struct State {
        var places = 0
        var filters: [String: String] = [:]
        var taken: [Int: Guest] = [:]
        var last = 0
        var line = WaitingLine()

        var free: Int { places - taken.count }
    }

    private let supervisor: SupervisorChannel
    private let membership: FleetMembership
    private let lines: Lines
    /// Called with the origins for which this node now keeps a free place.
    private let free: @Sendable (_ origins: [String]) -> Void
    private let state = Mutex(State())

    private static let longest = 512 << 10

    init(
        _ supervisor: SupervisorChannel, _ membership: FleetMembership, _ lines: Lines,
        free: @escaping @Sendable (_ origins: [String]) -> Void
    ) {
        (self.supervisor, self.membership, self.lines, self.free) = (supervisor, membership, lines, free)
    }

    var places: Int { state.withLock { $0.places } }
    var count: Int { state.withLock { $0.taken.count } }
    var filters: [String: String] {
        get { state.withLock { $0.filters } }
        set { state.withLock { $0.filters = newValue } }
    }

    // MARK: - Orders

    func take(_ places: Int) {
        state.withLock { $0.places = max(0, places) }
        invite()
    }

    func accept(_ id: Int, _ files: [Descriptor]) { taken(id)?.fetch(into: files) }

    func putOff(_ id: Int) { giveBack(id, .full) }

    func refuse(_ id: Int, _ reason: String) { giveBack(id, .refused, reason) }

    private func giveBack(_ id: Int, _ word: TakeAnswer.Word, _ reason: String? = nil) {
        guard let taken = forget(id) else { return }
        taken.giveBack(because: word, reason)
        if word == .full { state.withLock { $0.line.add(taken.key.origin) } }
        invite()
    }

    /// Gives every picture back before the process exits, so that no origin has to wait for a timeout.
    func leaveAll() {
        let all = state.withLock { state in
            defer { (state.taken, state.places) = ([:], 0) }
            return Array(state.taken.values)
        }
        for taken in all { taken.giveBack(because: .full) }
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

    private func taken(_ id: Int) -> Guest? { state.withLock { $0.taken[id] } }

    private func forget(_ id: Int) -> Guest? { state.withLock { $0.taken.removeValue(forKey: id) } }

    /// Invites one waiting origin for each free place.
    func invite() {
        let origins = state.withLock { state in state.line.invite(state.free) }
        if !origins.isEmpty { free(origins) }
    }

    /// Sends each picture's origin a sign of life, and asks whether the origin still wants the picture.
    func showLife() {
        for taken in state.withLock({ Array($0.taken.values) }) { taken.askWhetherWanted() }
    }

    // MARK: - Offers

    func listen(on line: Line) throws(LineError) {
        try line.listen(to: Subject.take(by: membership.name, of: "*")) { [weak self, weak line] message in
            let origin = Subject.last(of: message.subject)
            guard let self, let line, let reply = message.reply, reply.hasPrefix("_INBOX."),
                NodeName.isOne(origin), origin != membership.name, message.withBytes(\.count) <= Self.longest,
                let offer = message.decoded(Offer.self), Token.isOne(offer.run), Token.isOne(offer.attempt),
                MessageCheck.accepts(offer.picture),
                let answer = try? JSONEncoder().encode(TakeAnswer(word: consider(offer, of: origin)))
            else { return }
            try? line.publish(Array(answer), to: reply)
        }
        try line.listen(to: Subject.unwanted(on: membership.name, by: "*")) { [weak self] _ in self?.showLife() }
        try line.listen(to: Subject.waits(at: membership.name, by: "*")) { [weak self] message in
            let origin = Subject.last(of: message.subject)
            guard NodeName.isOne(origin) else { return }
            self?.state.withLock { $0.line.add(origin) }
            self?.invite()
        }
        try line.listen(to: Subject.declined(at: membership.name, by: "*")) { [weak self] message in
            self?.state.withLock { $0.line.declines(Subject.last(of: message.subject)) }
            self?.invite()
        }
    }

    private func consider(_ offer: Offer, of origin: String) -> TakeAnswer.Word {
        let key = LentKey(origin: origin, run: offer.run, id: offer.picture.id)
        let (word, new, old) = state.withLock { state -> (TakeAnswer.Word, Guest?, Guest?) in
            let known = state.taken.values.first { $0.key == key }
            if known?.attempt == offer.attempt { return (.yes, nil, nil) }
            // A new token for a known picture means that the origin has given up the attempt that runs here.
            if let known { state.taken[known.id] = nil }
            guard offer.picture.filters.allSatisfy({ state.filters[$0] == $1 }) else { return (.refused, nil, known) }
            guard state.line.admits(origin, free: state.free) else { return (.full, nil, known) }
            state.last += 1
            let taken = make(state.last, key, offer)
            state.taken[taken.id] = taken
            return (.yes, taken, known)
        }
        if let old {
            old.isVoid()
            supervisor.send(.withdrawn(old.id))
            invite()
        }
        guard let new, !supervisor.send(.offered(new.id, new.picture, origin: origin)) else { return word }
        _ = forget(new.id)
        return .refused
    }

    private func make(_ id: Int, _ key: LentKey, _ offer: Offer) -> Guest {
        Guest(id, key, offer, membership, lines) { [weak self] taken, end in
            guard let self, forget(taken.id) != nil else { return }
            // Send the message before the invitation, so that the supervisor already counts the free place when the
            // invited origin makes an offer.
            supervisor.send(end == .delivered ? .delivered(taken.id) : .withdrawn(taken.id))
            invite()
        } fetched: { [supervisor] in
            supervisor.send(.fetched($0.id))
        }
    }
}
