package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import Dispatch
import Glibc
package import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
package import WorkerPools
package import WorkerProtocol

/// Reacts to changes in a fleet member, and executes commands for it.
@Coordination
package protocol FleetMemberDelegate: AnyObject {
    /// Called when the member's state may have changed.
    func fleetChanged()
    /// Executes a command. The log names `peer` as its sender.
    func execute(_ command: NodeCommand, by peer: String, done: @escaping CommandRefusal.Done)
}

/// This node's membership in a fleet. Joins the fleet that the settings name, lends pictures while the render queue is
/// full, and renders other nodes' pictures in places that its own jobs don't need.
@Coordination
package final class FleetMember: FleetPoolDelegate {
    private let configuration: ConfigurationInForce
    private let pool: FleetPool
    private let render: WorkerPool
    private let fetch: FetchPool
    private let queue: GatedQueue
    private let downloads: GatedQueue
    private var guests: [Int: GuestPicture] = [:]
    /// Number of the latest adopted configuration. Prevents this node from joining with an older configuration.
    private var adoptions = 0
    private var unreadable: String?
    private var isStopped = false
    private var showsLife = false
    package weak var delegate: (any FleetMemberDelegate)?

    nonisolated private static let user = "fleet"
    /// Interval between signs of life to origins: a third of the time after which an origin counts a picture as lost.
    nonisolated private static let lifePause = Duration.seconds(10)

    package init(
        _ configuration: ConfigurationInForce, _ pool: FleetPool, _ render: WorkerPool, _ fetch: FetchPool,
        _ queue: GatedQueue, downloads: GatedQueue
    ) {
        (self.configuration, self.pool, self.render) = (configuration, pool, render)
        (self.fetch, self.queue, self.downloads) = (fetch, queue, downloads)
        pool.delegate = self
    }

    package var isOn: Bool { configuration.settings.fleet.isOn }
    package var state: FleetState { pool.state }
    package var lentCount: Int { pool.lentCount }
    package var takenCount: Int { guests.count }
    package var name: String { configuration.settings.fleet.name ?? NodeName.made(of: Self.machine) }
    /// Maximum number of other nodes' pictures that this node takes at once.
    package var places: Int {
        let render = queue.report
        return render.paused ? 0 : configuration.settings.fleet.places.count ?? render.effective
    }
    /// The problem that keeps this node from working in its fleet, if any.
    package var problem: String? { (unreadable ?? pool.problem).map { "fleet: \($0)" } }

    /// What `node` lacks to render this node's pictures: this release, filters in the same version, or files that
    /// filters use. Empty if nothing is missing.
    package func lacks(of node: FleetNode) -> [String] {
        guard node.version == Release.version else { return ["pipelined \(Release.version)"] }
        let files = configuration.now.catalog.files.digests
        return filters.filter { node.filters[$0.key] != $0.value }.map { name, version in
            if version == FleetNode.file { return files.filter { $0.value == name }.keys.min() ?? name }
            return node.filters[name] == nil ? name : "\(name) in this version"
        }.sorted()
    }

    /// The plugin filters and their versions, and the files that filters use. A plugin that ships with the program has
    /// the program's version; any other plugin is identified by its file's digest.
    private var filters: [String: String] {
        let own = Places.ownPlugins
        let all = configuration.now.catalog.stages.compactMap { stage -> (String, String)? in
            guard let file = stage.file else { return nil }
            return (stage.name, FileSystem.folder(of: file) == own ? Release.version : stage.digest ?? "")
        }
        let files = configuration.now.catalog.files.digests.values.map { ($0, FleetNode.file) }
        return Dictionary(all + files) { $1 }
    }

    nonisolated private static var machine: String {
        var system = utsname()
        uname(&system)
        return withUnsafeBytes(of: system.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Applies new settings or filters.
    package func adopt() {
        adoptions += 1
        let (mine, settings) = (adoptions, configuration.settings)
        guard settings.fleet.isOn else {
            unreadable = nil
            pool.join(nil)
            return
        }
        pool.use(filters)
        let membership = FleetMembership(servers: settings.fleet.servers ?? [], name: name)
        // Open the files on a file lane, because a mount may hang.
        FileLanes.work(on: configuration.places.configuration).async { [self] in
            let opened = Result {
                try settings.fleet.files.map { key, path in
                    let file = try Self.open(key, path)
                    return FleetCredential(file: file, identity: FileStatus(try file.status()).identity)
                }
            }
            Coordination.async { [self] in
                guard adoptions == mine, !isStopped else { return }
                switch opened {
                case .success(let credentials):
                    unreadable = nil
                    pool.join(
                        FleetPlan(
                            membership, credentials: credentials, settings.fleet,
                            isConfined: settings.sandbox == .required))
                case .failure(let error):
                    unreadable = "\(error)"
                    Log.failure("fleet: \(error)")
                    pool.join(nil)
                }
                look()
            }
        }
    }

    nonisolated private static func open(_ key: String, _ path: String) throws -> Descriptor {
        func refusal(_ words: String) -> JobFailure { JobFailure("\(key)= in [Fleet] is not used: \(words)") }
        let file: Descriptor
        do {
            let way = try Trust.way(to: path)
            if let refused = way.refusal { throw refusal(refused) }
            file = try way.open(O_RDONLY | O_NONBLOCK)
        } catch let error as SystemError {
            throw refusal("\(error)")
        }
        let status = FileStatus(try file.status())
        guard status.kind == .file else { throw refusal("\(path) is not a file") }
        guard key != "Credentials" || status.mode & S_IROTH == 0 else {
            throw refusal("everyone can read \(path); `chmod o-r` it")
        }
        return file
    }

    /// Stops lending and taking pictures. Taken pictures go back to their origins.
    package func stop(_ done: @escaping @Sendable () -> Void) {
        isStopped = true
        leftAll()
        pool.stop(done)
    }

    // MARK: - Commands

    /// Sends a command to nodes, which may include this node. Calls `done` after every node has an outcome.
    package func command(
        _ nodes: [String], _ command: NodeCommand, by peer: String,
        done: @escaping @Coordination @Sendable ([(node: String, outcome: NodeOutcome)]) -> Void
    ) {
        let group = DispatchGroup()
        let outcomes = Mutex<[String: NodeOutcome]>([:])
        for node in nodes {
            group.enter()
            send(node, command, by: peer) { outcome in
                outcomes.withLock { $0[node] = outcome }
                group.leave()
            }
        }
        Coordination.notify(group) {
            let outcomes = outcomes.withLock { $0 }
            done(nodes.map { ($0, outcomes[$0] ?? .silent) })
        }
    }

    private func send(_ node: String, _ command: NodeCommand, by peer: String, done: @escaping Done<NodeOutcome>) {
        guard node == name else { return pool.command(node, command) { done($0.map { .done($0) } ?? .silent) } }
        guard let delegate else { return done(.silent) }
        delegate.execute(command, by: peer) { result in
            switch result {
            case .success(let report): done(.done(report))
            case .failure(let refusal): done(.refused(refusal))
            }
        }
    }

    package func commanded(_ command: NodeCommand, by node: String, done: @escaping Done<NodeReport>) {
        guard configuration.settings.fleet.obey == .yes || command.isQuestion else {
            Log.notice("refused a command of the node \(node), because of Obey=no")
            return done(NodeReport(error: "it accepts no commands of other nodes (Obey=no in its [Fleet])"))
        }
        guard let delegate else { return done(NodeReport(error: "it can't answer yet; try again")) }
        delegate.execute(command, by: "the node \(node)") { result in
            switch result {
            case .success(let report): done(report)
            case .failure(let refusal): done(NodeReport(error: refusal.message))
            }
        }
    }

    /// Checks nodes by lending a test picture to each of them.
    package func check(
        _ nodes: [String], done: @escaping @Coordination ([String: NodeCheckOutcome]) -> Void
    ) -> FleetCheck {
        let check = FleetCheck(render, configuration.settings, { [self] in state }, done: done)
        check.begin(nodes)
        return check
    }

    // MARK: - Room

    /// Re-evaluates how many pictures this node lends and takes. Called when the number of places, a pause of this
    /// node, or the other nodes have changed.
    package func look() {
        guard !isStopped else { return }
        queue.set(beyond: pool.hasRoom ? 1 : 0)
        pool.take(max(guests.count, min(places, guests.count + spare)))
        if isOn, spare == 0 {
            queue.whenSpare(guests.count + 1, for: Self.user) { Coordination.async { [self] in becameSpare() } }
        }
        delegate?.fleetChanged()
    }

    /// Called when another picture can be lent, or a lost node's picture has returned. A free place here may render the
    /// returned picture.
    package func roomChanged() {
        look()
        guard pool.hasRoom || pool.lentCount > 0 else { return }
        Coordination.async { [self] in render.lookAtFleet() }
    }

    private func becameSpare() {
        render.lookAtFleet()
        look()
    }

    package var spareSlots: Int { queue.spare }

    /// Places that neither this node's jobs nor other nodes' pictures use.
    private var spare: Int { max(0, queue.spare - guests.count) }

    // MARK: - Pictures of other nodes

    package func offered(_ id: Int, _ picture: LentPicture, from origin: String) {
        guard !isStopped, guests.count < places, spare > 0 else {
            pool.putOff(id)
            return look()
        }
        if case .url = picture.bytes, downloads.report.paused {
            return pool.refuse(id, because: "downloads are paused")
        }
        let offer = GuestPicture.Offer(id: id, picture: picture, origin: origin)
        let guest = GuestPicture(offer, configuration, pool, render, fetch) { [weak self] in
            guard let filters = self?.filters else { return false }
            return picture.filters.allSatisfy { filters[$0] == $1 }
        }
        guests[id] = guest
        guest.accept()
        showLife()
        look()
    }

    /// Sends regular signs of life while this node has guests. The daemon's coordination queue runs this method,
    /// because the fleet's own process would send signs of life even if the daemon hung.
    private func showLife() {
        guard !showsLife, !guests.isEmpty, !isStopped else { return }
        showsLife = true
        Coordination.after(Self.lifePause) { [self] in
            showsLife = false
            pool.showLife()
            showLife()
        }
    }

    package func fetched(_ id: Int) { guests[id]?.begin() }

    package func left(_ id: Int) {
        guests.removeValue(forKey: id)?.end()
        look()
    }

    package func leftAll() {
        for guest in guests.values { guest.end() }
        guests = [:]
    }
}

extension NodeCommand {
    fileprivate var isQuestion: Bool { if case .ask = self { true } else { false } }
}
