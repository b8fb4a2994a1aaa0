import DaemonRuntime
import Dispatch
import Foundation
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

/// Connects the supervisor with the fleet: executes the supervisor's orders, and reports each change in the fleet.
@Coordination
final class FleetSession {
    private let supervisor: SupervisorChannel
    private let lines = Lines()
    private var membership: FleetMembership?
    private var loans: Loans?
    private var offers: Offers?
    private var guests: Guests?
    private var connector: Connector?
    private let outgoing: OutgoingCommands
    private let incoming: IncomingCommands
    /// Why this node is not connected to a server, or a problem with the connection.
    private var problem: String?
    private var reported: (server: String?, problem: String?)?
    private var reportedNodes: [String: Nodes.Report] = [:]
    private var solitude = IsolationTimer()

    nonisolated init(_ supervisor: SupervisorChannel) {
        self.supervisor = supervisor
        (outgoing, incoming) = (OutgoingCommands(supervisor, lines), IncomingCommands(supervisor))
    }

    func execute(_ order: FleetOrder, _ files: [Descriptor]) {
        switch order {
        case .join(let membership): join(membership, files)
        case .filters(let filters):
            guests?.filters = filters
            say()
        case .lend(let picture, let node):
            guard let loans else {
                supervisor.send(.returned(picture.id))
                return
            }
            loans.lend(picture, only: node, files)
        case .takeBack(let id): loans?.takeBack(id)
        case .take(let places):
            guests?.take(places)
            say()
        case .accept(let id): guests?.accept(id, files)
        case .putOff(let id): guests?.putOff(id)
        case .refuse(let id, let reason): guests?.refuse(id, reason)
        case .showLife: guests?.showLife()
        case .progress(let id, let done, let total): guests?.progress(id, done, total)
        case .rendered(let id, let header, let outputs, let file): guests?.rendered(id, header, outputs, file, files)
        case .failed(let id, let failure): guests?.failed(id, failure)
        case .command(let id, let command, let node): outgoing.send(node, command, id, by: membership?.name)
        case .obeyed(let id, let report): incoming.obeyed(id, report)
        // A pong from the coordination queue proves that this process still executes orders.
        case .ping: supervisor.send(.pong)
        }
    }

    /// Gives all taken pictures back, because the supervisor has exited.
    func leave() { guests?.leaveAll() }

    private func join(_ membership: FleetMembership, _ files: [Descriptor]) {
        guard self.membership == nil else { return supervisor.say("it has joined a fleet already") }
        guard NodeName.isOne(membership.name), membership.patienceMilliseconds > 0 else {
            problem = "\(membership.name) is not a node's name: small letters, digits and hyphens, at most 40"
            return reportLine()
        }
        let credentials: Credentials?
        do {
            credentials = try Credentials(files)
        } catch {
            problem = "the credentials can't be read: \(error)"
            return reportLine()
        }
        self.membership = membership
        let loans = Loans(supervisor, membership, lines) { [weak self] freed in
            Coordination.async {
                if let freed { self?.offers?.nodes.freesOne(freed) }
                self?.offers?.look()
            }
        }
        self.loans = loans
        offers = Offers(loans, lines, patience: .milliseconds(membership.patienceMilliseconds))
        guests = Guests(supervisor, membership, lines) { [weak self] origins in
            Coordination.async { self?.invite(origins) }
        }
        connector = Connector(membership, credentials) { [weak self] news in Coordination.async { self?.hear(news) } }
        connector?.start()
        beat()
    }

    private func hear(_ news: Connector.News) {
        switch news {
        case .problem(let text):
            problem = text
            lines.set(nil)
        case .refusal(let text): problem = text
        case .ready(let line):
            do {
                try listen(on: line)
                problem = nil
                lines.set(line)
                solitude.begins()
                say()
                offers?.begin()
            } catch {
                // The connection was lost while this node subscribed to its subjects. The connector will report the
                // loss.
                problem = "\(error)"
            }
        }
        reportLine()
    }

    private func listen(on line: Line) throws {
        guard let membership else { return }
        try loans?.serve(on: line)
        try offers?.listen(on: line)
        try guests?.listen(on: line)
        try hear(Subject.presence(of: "*"), on: line) { $0.hear($1, answering: true) }
        try hear(Subject.presence(of: "*", to: membership.name), on: line) { $0.hear($1) }
        try hear(Subject.room(at: "*", for: membership.name), on: line) { $0.isInvited($1) }
        try outgoing.listen(on: line)
        try incoming.listen(on: line, as: membership.name)
    }

    // MARK: - The other nodes

    private func beat() {
        say()
        offers?.nodes.forget()
        for name in Set(reportedNodes.keys).union(offers?.nodes.names ?? []) { reportNode(of: name) }
        if solitude.isTooLong { connector?.tryNext() }
        reportLine()
        Coordination.after(offers?.nodes.pause ?? .seconds(2)) { [weak self] in self?.beat() }
    }

    private func hear(
        _ subject: String, on line: Line, _ body: @escaping @Coordination @Sendable (FleetSession, Presence) -> Void
    ) throws(LineError) {
        try line.listen(to: subject) { [weak self] message in
            guard let presence = Nodes.presence(in: message) else { return }
            Coordination.async { if let self { body(self, presence) } }
        }
    }

    private func hear(_ presence: Presence, answering: Bool = false) {
        guard let loans, let offers else { return }
        let isNew = offers.hear(presence)
        loans.hasTwin = offers.nodes.hasTwin
        solitude.ends()
        // Answers a new node at once, so that it need not wait for this node's next announcement.
        if isNew, answering { publish { Subject.presence(of: $0, to: presence.node.name) } }
        offers.look()
        reportNode(of: presence.node.name)
        reportLine()
    }

    private func say() { publish { Subject.presence(of: $0) } }

    /// Informs each origin: this node keeps a place for the origin. If an origin does not use its place in time, this
    /// node keeps the place for another origin.
    private func invite(_ origins: [String]) {
        for origin in origins { publish { Subject.room(at: $0, for: origin) } }
        Coordination.after(WaitingLine.time + .milliseconds(10)) { [weak self] in self?.guests?.invite() }
    }

    private func isInvited(_ presence: Presence) {
        let hasSome = loans?.all.contains { $0.search != nil } == true
        hear(presence)
        guard !hasSome, let membership else { return }
        try? lines.current?.publish(to: Subject.declined(at: presence.node.name, by: membership.name))
    }

    private func publish(to subject: (String) -> String) {
        guard let membership, let loans, let guests, let line = lines.current else { return }
        let node = FleetNode(
            name: membership.name, version: Release.version, places: guests.places, taken: guests.count,
            lent: loans.count, filters: guests.filters)
        guard let bytes = try? JSONEncoder().encode(Presence(token: loans.run, node: node)) else { return }
        try? line.publish(Array(bytes), to: subject(membership.name))
    }

    private func reportLine() {
        let twin = offers?.nodes.hasTwin == true ? membership.map { Self.twin($0.name) } : nil
        let now = ((lines.current?.server).map(Connector.shown), problem ?? twin ?? offers?.problem)
        guard reported.map({ $0 != now }) ?? true else { return }
        reported = now
        supervisor.send(.line(server: now.0, problem: now.1))
    }

    private func reportNode(of name: String) {
        let now = offers?.nodes[name]
        guard reportedNodes[name] != now else { return }
        reportedNodes[name] = now
        if let now {
            supervisor.send(.node(now.node, isSilent: now.isSilent))
        } else {
            supervisor.send(.forgotten(node: name))
        }
    }

    private static func twin(_ name: String) -> String {
        "another node of the fleet is called \(name), too; give each a name of its own (Name= of [Fleet])"
    }
}

/// Measures how long this node has not heard from any other node. After a while, this node tries another server,
/// because the other nodes may be connected to that server.
struct IsolationTimer {
    private var since = ContinuousClock.now
    private var patience = shortest

    private static let shortest = Duration.seconds(15)
    private static let longest = Duration.seconds(600)

    mutating func begins() { since = .now }

    mutating func ends() { (since, patience) = (.now, Self.shortest) }

    /// Whether this node has been alone longer than `patience` and should try another server. If so, restarts the
    /// measurement with twice the patience, because this node may be the only node in the fleet.
    var isTooLong: Bool {
        mutating get {
            guard since + patience < .now else { return false }
            (since, patience) = (.now, min(patience * 2, Self.longest))
            return true
        }
    }
}
