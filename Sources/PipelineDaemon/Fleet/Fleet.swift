import DaemonRuntime
import Dispatch
import Glibc
import OperationGraph
import PipelineModel
import SystemCalls
import WorkerPools
import WorkerProtocol

/// This node in its fleet: joins it as the settings say, lends while the render queue is full, and renders the pictures of
/// others in places that no job of its own wants.
@Coordination
final class Fleet: FleetGuests {
    private let configuration: ConfigurationInForce
    private let pool: FleetPool
    private let render: WorkerPool
    private let queue: GatedQueue
    private var guests: [Int: TakenPicture] = [:]
    /// Counts the configurations: only the latest is joined with.
    private var adoptions = 0
    private var unreadable: String?
    private var isStopped = false
    /// Called when something of its state may have changed.
    var changed: @Coordination () -> Void = {}

    nonisolated private static let user = "fleet"

    init(_ configuration: ConfigurationInForce, _ pool: FleetPool, _ render: WorkerPool, _ queue: GatedQueue) {
        (self.configuration, self.pool, self.render, self.queue) = (configuration, pool, render, queue)
        pool.guests = self
        pool.spare = { [queue] in queue.spare }
        pool.roomChanged = { [weak self] in self?.look() }
    }

    var isOn: Bool { configuration.settings.fleet.isOn }
    var state: FleetState { pool.state }
    var lentCount: Int { pool.lentCount }
    var takenCount: Int { guests.count }
    var name: String { configuration.settings.fleet.name ?? NodeName.made(of: Self.machine) }
    /// The pictures of others that may be here at once.
    var places: Int { configuration.settings.fleet.places.count ?? queue.report.effective }
    /// Why there is no fleet though there should be one.
    var problem: String? { (unreadable ?? pool.problem).map { "fleet: \($0)" } }

    /// The filters of this node that another one has not got.
    func lacks(of node: FleetState.Node) -> [String] {
        Set(configuration.now.catalog.stages.map(\.name)).subtracting(node.filters).sorted()
    }

    nonisolated private static var machine: String {
        var system = utsname()
        uname(&system)
        return withUnsafeBytes(of: system.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// The settings are new, or the filters.
    func adopt() {
        adoptions += 1
        let (mine, settings) = (adoptions, configuration.settings)
        guard settings.fleet.isOn else {
            unreadable = nil
            pool.join(nil)
            return
        }
        let membership = FleetMembership(
            servers: settings.fleet.servers ?? [], name: name,
            filters: configuration.now.catalog.stages.map(\.name).sorted())
        // A mount may hang.
        FileQueue.async { [self] in
            let opened = Result {
                try settings.fleet.credentials.map { key, path in
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
        guard status.kind == .file else { throw refusal("\(path) is no file") }
        guard key != "Key" || status.mode & S_IROTH == 0 else {
            throw refusal("everybody can read \(path); `chmod o-r` it")
        }
        return file
    }

    /// Nothing is lent or taken any more; what was taken goes back to its origins.
    func stop(_ done: @escaping @Sendable () -> Void) {
        isStopped = true
        leftAll()
        pool.stop(done)
    }

    // MARK: - Room

    /// Something has changed that decides what is lent and taken.
    private func look() {
        guard !isStopped else { return }
        queue.set(beyond: pool.hasRoom ? 1 : 0)
        pool.take(max(guests.count, min(places, guests.count + spare)))
        if isOn, spare == 0 {
            queue.whenSpare(guests.count + 1, for: Self.user) { Coordination.async { [self] in becameSpare() } }
        }
        changed()
    }

    private func becameSpare() {
        render.lookAtFleet()
        look()
    }

    /// Places that neither a job nor another node's picture has.
    private var spare: Int { max(0, queue.spare - guests.count) }

    // MARK: - Pictures of others

    func offered(_ id: Int, _ picture: LentPicture, from origin: String) {
        guard !isStopped, guests.count < places, spare > 0 else {
            pool.refuse(id, because: "no place is free")
            return look()
        }
        let guest = TakenPicture(id, picture, from: origin, configuration, pool, render)
        guests[id] = guest
        guest.accept()
        look()
    }

    func fetched(_ id: Int) { guests[id]?.render() }

    func left(_ id: Int) {
        guests.removeValue(forKey: id)?.end()
        look()
    }

    func leftAll() {
        for guest in guests.values { guest.end() }
        guests = [:]
    }
}
