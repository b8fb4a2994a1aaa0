import DaemonRuntime
import Dispatch
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The owner of what this node knows of the fleet. Orders come here, and every change is told to the supervisor from here.
@Coordination
final class Fleet {
    private let supervisor: Supervisor
    private let lines = Lines()
    private var membership: FleetMembership?
    private var giving: Giving?
    private var taking: Taking?
    private var connector: Connector?
    private var puller: Puller?
    private var nodes = Nodes()
    private let commanding: Commanding
    private let obeying: Obeying
    /// Why there is no line, or why it is not used.
    private var problem: String?
    private var told: FleetState?
    private var isTelling = false

    nonisolated init(_ supervisor: Supervisor) {
        self.supervisor = supervisor
        (commanding, obeying) = (Commanding(supervisor, lines), Obeying(supervisor))
    }

    func obey(_ order: FleetOrder, _ files: [Descriptor]) {
        switch order {
        case .join(let membership): join(membership, files)
        case .lend(let picture):
            guard let giving else {
                supervisor.send(.returned(picture.id))
                return
            }
            giving.lend(picture, files)
        case .takeBack(let id): giving?.takeBack(id)
        case .take(let places): taking?.take(places)
        case .accept(let id): taking?.accept(id, files)
        case .putOff(let id): taking?.putOff(id)
        case .refuse(let id, let reason): taking?.refuse(id, reason)
        case .progress(let id, let done, let total): taking?.progress(id, done, total)
        case .rendered(let id, let header, let outputs, let file): taking?.rendered(id, header, outputs, file, files)
        case .failed(let id, let failure): taking?.failed(id, failure)
        case .command(let id, let command, let node): commanding.tell(node, command, id, by: membership?.name)
        case .obeyed(let id, let report): obeying.obeyed(id, report)
        // The queue that all orders need works.
        case .ping: supervisor.send(.pong)
        }
    }

    /// The supervisor is gone.
    func leave() { taking?.leaveAll() }

    private func join(_ membership: FleetMembership, _ files: [Descriptor]) {
        guard self.membership == nil else { return supervisor.say("it has joined a fleet already") }
        guard NodeName.isOne(membership.name), membership.ackWaitMilliseconds > 0 else {
            problem = "\(membership.name) is no name for a node: small letters, digits and hyphens, 40 at most"
            return tell()
        }
        let certificates: Certificates?
        do {
            certificates = try Certificates(files)
        } catch {
            problem = "the certificates can't be read: \(error)"
            return tell()
        }
        self.membership = membership
        let changed: @Sendable () -> Void = { [weak self] in Coordination.async { self?.change() } }
        let taking = Taking(supervisor, membership, lines, changed: changed)
        giving = Giving(supervisor, membership, lines, changed: changed)
        self.taking = taking
        puller = Puller(lines, taking)
        connector = Connector(membership, certificates) { [weak self] news in Coordination.async { self?.hear(news) } }
        connector?.start()
        puller?.start()
        beat()
        showLife(every: .milliseconds(membership.ackWaitMilliseconds) / 3)
    }

    private func hear(_ news: Connector.News) {
        switch news {
        case .problem(let text):
            problem = text
            lines.set(nil)
        case .ready(let line):
            do {
                try listen(on: line)
                problem = nil
                lines.set(line)
                giving?.look()
                change()
            } catch {
                // The line is lost again; the connector tells it.
                problem = "\(error)"
            }
        }
        tell()
    }

    private func listen(on line: Line) throws {
        try giving?.serve(on: line)
        try line.listen(to: Subject.presence(of: "*")) { [weak self] message in
            guard let presence = Nodes.presence(in: message) else { return }
            Coordination.async { self?.hear(presence) }
        }
        if let membership {
            try line.listen(to: Subject.unwanted(on: membership.name)) { [taking] _ in taking?.askWhetherWanted() }
            try commanding.listen(on: line)
            try obeying.listen(on: line, as: membership.name)
        }
        try line.listen(to: Subject.wake) { [taking] _ in taking?.news.signal() }
    }

    // MARK: - The other nodes

    /// How often a node says that it is there.
    private static let pause = Duration.seconds(2)

    private func beat() {
        say()
        nodes.forget()
        tell()
        Coordination.after(Self.pause) { [weak self] in self?.beat() }
    }

    private func showLife(every pause: Duration) {
        taking?.showLife()
        Coordination.after(pause) { [weak self] in self?.showLife(every: pause) }
    }

    private func hear(_ presence: Presence) {
        guard let membership, let giving else { return }
        nodes.hear(presence, own: membership.name)
        giving.hasTwin = nodes.hasTwin
        tell()
    }

    /// Something has been lent or taken, or has come to an end. Several changes are said at once.
    private func change() {
        guard !isTelling else { return }
        isTelling = true
        Coordination.after(.milliseconds(50)) { [weak self] in
            self?.isTelling = false
            self?.say()
        }
    }

    private func say() {
        guard let membership, let giving, let taking, let line = lines.current else { return }
        let node = FleetState.Node(
            name: membership.name, version: Release.version, places: taking.places, taken: taking.count,
            lent: giving.count, filters: membership.filters)
        Nodes.say(Presence(token: giving.run, node: node), on: line)
    }

    private func tell() {
        let twin = nodes.hasTwin ? membership.map { Self.twin($0.name) } : nil
        let server = (lines.current?.server).map(Connector.shown)
        let state = FleetState(
            server: server, problem: problem ?? twin, nodes: server == nil ? [] : nodes.all,
            silent: nodes.silent(isConnected: server != nil))
        guard state != told else { return }
        told = state
        supervisor.send(.state(state))
    }

    private static func twin(_ name: String) -> String {
        "another node of the fleet is called \(name), too; give each a name of its own (Name= of [Fleet])"
    }
}
