import Dispatch
import Synchronization
import SystemCalls
import WorkerProtocol

/// The pictures that this node has lent. Each leaves the table once, with the one answer that the supervisor gets.
final class Loans: Sendable {
    private struct State {
        var lent: [Int: Loan] = [:]
        var hasTwin = false
    }

    let supervisor: SupervisorChannel
    let name: String
    let run = Token.made()
    private let lines: Lines
    /// Called when a picture has come, has lost its node, or is over: its node has a place more.
    private let changed: @Sendable (_ freed: String?) -> Void
    private let state = Mutex(State())
    /// Here whole files are read.
    let looks = DispatchQueue(label: "pipelined.fleet.looks")

    init(
        _ supervisor: SupervisorChannel, _ membership: FleetMembership, _ lines: Lines,
        changed: @escaping @Sendable (_ freed: String?) -> Void
    ) {
        (self.supervisor, name, self.lines, self.changed) = (supervisor, membership.name, lines, changed)
    }

    var count: Int { state.withLock { $0.lent.count } }

    /// By priority, and then by age.
    var all: [Loan] {
        state.withLock { Array($0.lent.values) }.sorted {
            ($1.picture.priority, $0.key.id) < ($0.picture.priority, $1.key.id)
        }
    }

    /// Another process goes by this node's name: it may know the pictures that this one does not.
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

    /// A node has begun with it, as it says.
    func begun(_ lent: Loan, by node: String) { supervisor.send(.begun(lent.key.id, node: node)) }

    /// The next may be fetched.
    func fetched(_ lent: Loan, by token: String) {
        lent.isFetched(by: token)
        changed(nil)
    }

    /// A node does not take it. Another is asked, if another may have it.
    func refused(_ lent: Loan, by node: String, because reason: Untaken) {
        lent.isRefused(by: node)
        if lent.only != nil { end(lent, .untaken(lent.key.id, reason)) }
    }

    /// Its node has given it up, or is lost.
    func left(_ lent: Loan, by node: String, hasPlace: Bool) {
        supervisor.send(.begun(lent.key.id, node: nil))
        changed(hasPlace ? node : nil)
    }
}
