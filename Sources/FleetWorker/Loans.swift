import Dispatch
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures that this node has lent. Each leaves the table once, with its only answer to the supervisor.
final class Loans: Sendable {
    private struct State {
        var lent: [Int: Loan] = [:]
        var hasTwin = false
    }

    let supervisor: SupervisorChannel
    let name: String
    let run = Token.made()
    private let lines: Lines
    /// Called when a picture was lent, fetched, given up or ended; `freed` names a node that has one more free place.
    private let changed: @Sendable (_ freed: String?) -> Void
    private let state = Mutex(State())
    /// Reads whole files, to check results.
    let looks = DispatchQueue(label: "pipelined.fleet.looks")

    init(
        _ supervisor: SupervisorChannel, _ membership: FleetMembership, _ lines: Lines,
        changed: @escaping @Sendable (_ freed: String?) -> Void
    ) {
        (self.supervisor, name, self.lines, self.changed) = (supervisor, membership.name, lines, changed)
    }

    var count: Int { state.withLock { $0.lent.count } }

    /// Highest priority first, then oldest first.
    var all: [Loan] {
        state.withLock { Array($0.lent.values) }.sorted {
            ($1.picture.priority, $0.key.id) < ($0.picture.priority, $1.key.id)
        }
    }

    /// Another process uses this node's name, and may know the pictures that this process does not.
    var hasTwin: Bool {
        get { state.withLock { $0.hasTwin } }
        set { state.withLock { $0.hasTwin = newValue } }
    }

    func lend(_ picture: LentPicture, only node: String?, _ files: [Descriptor]) {
        let sources = picture.bytes.sizes.count
        guard files.count == sources + picture.outputs.count else {
            supervisor.say("\(files.count) files came with \(sources) sources and \(picture.outputs.count) outputs")
            supervisor.send(.returned(picture.id))
            return
        }
        let lent = Loan(
            LentKey(origin: name, run: run, id: picture.id), picture, only: node,
            sources: Array(files.prefix(sources)), targets: Array(files.dropFirst(sources)))
        state.withLock { $0.lent[picture.id] = lent }
        changed(nil)
    }

    func takeBack(_ id: Int) {
        guard let lent = lent(id) else { return }
        end(lent, .returned(id))
    }

    func lent(_ id: Int) -> Loan? { state.withLock { $0.lent[id] } }

    /// Returns false when another end came first.
    @discardableResult
    func end(_ lent: Loan, _ message: FleetMessage) -> Bool {
        guard state.withLock({ $0.lent.removeValue(forKey: lent.key.id) }) != nil else { return false }
        let node = lent.end()
        supervisor.send(message)
        if let node, case .returned = message {
            try? lines.current?.publish(to: Subject.unwanted(on: node, by: name))
        }
        changed(node)
        return true
    }

    /// Tells the supervisor that a node has begun the picture.
    func begun(_ lent: Loan, by node: String) { supervisor.send(.begun(lent.key.id, node: node)) }

    /// Notes that the sources are read, so that the next picture may be fetched.
    func fetched(_ lent: Loan, by token: String) {
        lent.isFetched(by: token)
        changed(nil)
    }

    /// Notes the refusal, so that other nodes are asked.
    func refused(_ lent: Loan, by node: String, because reason: Untaken) {
        lent.isRefused(by: node)
        fails(lent, because: reason)
    }

    /// A node has refused the picture or fallen silent. Ends the loan if no other node may have it.
    func fails(_ lent: Loan, because reason: Untaken) {
        if lent.only != nil { end(lent, .untaken(lent.key.id, reason)) }
    }

    /// The node has given the picture up, or is lost.
    func left(_ lent: Loan, by node: String, hasPlace: Bool) {
        supervisor.send(.begun(lent.key.id, node: nil))
        changed(hasPlace ? node : nil)
    }
}
