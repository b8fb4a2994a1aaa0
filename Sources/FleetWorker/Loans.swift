import Dispatch
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures that this node has lent. When a loan ends, it leaves this table, and the supervisor gets exactly one
/// final message about it.
final class Loans: Sendable {
    private struct State {
        var lent: [Int: Loan] = [:]
        var hasTwin = false
    }

    let supervisor: SupervisorChannel
    let name: String
    let run = Token.made()
    private let lines: Lines
    /// Called when a picture was lent, fetched or given back, or when a loan ended. `freed` names a node that has one
    /// more free place.
    private let changed: @Sendable (_ freed: String?) -> Void
    private let state = Mutex(State())
    /// The queue on which results are checked. Checks have a queue of their own, because each check reads whole files.
    let looks = DispatchQueue(label: "pipelined.fleet.looks")

    init(
        _ supervisor: SupervisorChannel, _ membership: FleetMembership, _ lines: Lines,
        changed: @escaping @Sendable (_ freed: String?) -> Void
    ) {
        (self.supervisor, name, self.lines, self.changed) = (supervisor, membership.name, lines, changed)
    }

    var count: Int { state.withLock { $0.lent.count } }

    /// All loans, highest priority first, then oldest first.
    var all: [Loan] {
        state.withLock { Array($0.lent.values) }.sorted {
            ($1.picture.priority, $0.key.id) < ($0.picture.priority, $1.key.id)
        }
    }

    /// Whether another process uses this node's name. A request for an unknown picture may be meant for that process.
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

    /// Ends the loan and sends the supervisor its final message. Returns false if the loan had ended before.
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

    /// Records that the node has read all sources, so that another picture may be fetched.
    func fetched(_ lent: Loan, by token: String) {
        lent.isFetched(by: token)
        changed(nil)
    }

    /// Records the refusal, so that the picture is offered to other nodes.
    func refused(_ lent: Loan, by node: String, because reason: RefusedOffer) {
        lent.isRefused(by: node)
        fails(lent, because: reason)
    }

    /// Handles a refusal or the silence of a node. Ends the loan if no other node may be asked.
    func fails(_ lent: Loan, because reason: RefusedOffer) {
        if lent.only != nil { end(lent, .untaken(lent.key.id, reason)) }
    }

    /// Handles a node that has given the picture back or is lost.
    func left(_ lent: Loan, by node: String, hasPlace: Bool) {
        supervisor.send(.begun(lent.key.id, node: nil))
        changed(hasPlace ? node : nil)
    }
}
