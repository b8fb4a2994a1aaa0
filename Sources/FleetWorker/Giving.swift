import DaemonRuntime
import Dispatch
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures that this node has lent. Each leaves the table once, with the one answer that the supervisor gets.
final class Giving: Sendable {
    private struct State {
        var lent: [Int: Lent] = [:]
        /// What the node's former self had left in the stream is gone.
        var isClean = false
        var hasTwin = false
        var looksSoon = false
    }

    let supervisor: Supervisor
    let name: String
    let run = Token.made()
    /// An attempt that has shown no life for so long makes room for another.
    let patience: Duration
    private let lines: Lines
    private let changed: @Sendable () -> Void
    private let state = Mutex(State())
    /// Here the server is waited for.
    private let offers = DispatchQueue(label: "pipelined.fleet.offers")
    /// Here whole files are read.
    let looks = DispatchQueue(label: "pipelined.fleet.looks")

    /// Between two looks at what the stream has.
    private static let pause = DispatchTimeInterval.seconds(300)

    init(
        _ supervisor: Supervisor, _ membership: FleetMembership, _ lines: Lines, changed: @escaping @Sendable () -> Void
    ) {
        (self.supervisor, name, self.lines, self.changed) = (supervisor, membership.name, lines, changed)
        patience = .milliseconds(membership.ackWaitMilliseconds)
        again()
        lookForForgotten()
    }

    var count: Int { state.withLock { $0.lent.count } }

    /// Another process goes by this node's name: it may know the pictures that this one does not.
    var hasTwin: Bool {
        get { state.withLock { $0.hasTwin } }
        set { state.withLock { $0.hasTwin = newValue } }
    }

    func lend(_ picture: LentPicture, _ files: [Descriptor]) {
        let key = LentKey(origin: name, run: run, id: picture.id)
        let sources = picture.bytes.sizes.count
        guard files.count == sources + picture.outputs.count else {
            supervisor.say("\(files.count) files came with \(sources) sources and \(picture.outputs.count) outputs")
            supervisor.send(.returned(picture.id))
            return
        }
        let lent = Lent(
            key, picture, sources: Array(files.prefix(sources)), targets: Array(files.dropFirst(sources)))
        state.withLock { $0.lent[picture.id] = lent }
        changed()
        offers.async { self.offer(lent) }
    }

    func takeBack(_ id: Int) {
        guard let lent = lent(id) else { return }
        end(lent, .returned(id))
    }

    func lent(_ id: Int) -> Lent? { state.withLock { $0.lent[id] } }

    /// Returns false when another end came first.
    @discardableResult
    func end(_ lent: Lent, _ message: FleetMessage) -> Bool {
        guard state.withLock({ $0.lent.removeValue(forKey: lent.key.id) }) != nil else { return false }
        let node = lent.end()
        supervisor.send(message)
        changed()
        // Else the node that has brought it acknowledges it. With each purge the server may forget what others have taken.
        guard case .returned = message else { return true }
        offers.async { [self] in
            guard let line = lines.current else { return }
            if let node { try? line.publish(to: Subject.unwanted(on: node)) }
            guard lent.isOffered else { return }
            // What stays is not wanted by anyone who begins it, and goes at the next look.
            try? Engine(line: line).purge(lent.subject)
        }
        return true
    }

    // MARK: - On the queue of offers

    /// Brings the stream and the table into agreement, whatever either has lost.
    func look() { offers.async(execute: compare) }

    private func again() {
        offers.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
            self?.compare()
            self?.again()
        }
    }

    private func lookForForgotten() {
        offers.asyncAfter(deadline: .now() + (patience / 6).dispatch) { [weak self] in
            self?.offerForgotten()
            self?.lookForForgotten()
        }
    }

    /// The server may have lost sight of what a node had taken, and keep it for ever without offering it: it is offered anew.
    /// A node that shows life after all has it still, until another begins.
    private func offerForgotten() {
        guard let line = lines.current else { return }
        let forgotten = state.withLock { $0.lent.values.filter { $0.isForgotten(for: patience) } }
        guard !forgotten.isEmpty else { return }
        do {
            for lent in forgotten.sorted(by: { $0.key.id < $1.key.id }) where self.lent(lent.key.id) === lent {
                if lent.isBegun { supervisor.send(.begun(lent.key.id, node: nil)) }
                try Engine(line: line).purge(lent.subject)
                try offer(lent, on: line)
            }
            try line.publish(to: Subject.wake)
        } catch {
            failed(error)
        }
    }

    private func offer(_ lent: Lent) {
        guard !lent.isOffered, self.lent(lent.key.id) === lent, let line = lines.current else { return }
        do {
            try offer(lent, on: line)
            try line.publish(to: Subject.wake)
        } catch {
            failed(error)
        }
    }

    private func offer(_ lent: Lent, on line: Line) throws {
        try Engine(line: line).publish(LentJob(run: run, picture: lent.picture), lent.subject)
        lent.offered()
    }

    private func compare() {
        guard let line = lines.current else { return }
        let engine = Engine(line: line)
        do {
            if !state.withLock({ $0.isClean }) {
                try engine.purge(Subject.jobs(of: name))
                state.withLock { $0.isClean = true }
            }
            let there = try engine.subjects(of: name)
            let lent = state.withLock { Dictionary(uniqueKeysWithValues: $0.lent.values.map { ($0.subject, $0) }) }
            for subject in there {
                guard let lent = lent[subject] else {
                    try engine.purge(subject)
                    continue
                }
                // The server has kept it, and its answer was lost.
                if !lent.isOffered { lent.offered() }
            }
            let missing = lent.filter { !there.contains($0.key) }.values.sorted { $0.key.id < $1.key.id }
            for lent in missing where self.lent(lent.key.id) === lent { try offer(lent, on: line) }
            if !missing.isEmpty { try line.publish(to: Subject.wake) }
        } catch {
            failed(error)
        }
    }

    /// A line that is lost is followed by a look anyway.
    private func failed(_ error: any Error) {
        guard let line = lines.current, !line.isClosed else { return }
        supervisor.say("what is lent can't be offered, and is offered again in five seconds: \(error)")
        guard
            state.withLock({ state in
                defer { state.looksSoon = true }
                return !state.looksSoon
            })
        else { return }
        offers.asyncAfter(deadline: .now() + 5) { [self] in
            state.withLock { $0.looksSoon = false }
            compare()
        }
    }
}
