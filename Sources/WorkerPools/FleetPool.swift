package import DaemonRuntime
import Dispatch
import Glibc
package import PipelineModel
import ServiceProgram
package import SystemCalls
package import WorkerProtocol

/// An open file that authenticates this node or the fleet's servers.
package struct FleetCredential: Sendable {
    var file: Descriptor
    /// The file's identity, which changes when the file is replaced or written.
    var identity: FileStatus.Identity

    package init(file: Descriptor, identity: FileStatus.Identity) { (self.file, self.identity) = (file, identity) }
}

/// The fleet that this node joins, with its credentials and settings.
package struct FleetPlan: Sendable {
    var membership: FleetMembership
    /// This node's credentials and the authority's certificate; empty if the servers require no credentials.
    var credentials: [FleetCredential]
    var settings: FleetSettings
    var isConfined: Bool

    package init(
        _ membership: FleetMembership, credentials: [FleetCredential], _ settings: FleetSettings, isConfined: Bool
    ) {
        (self.membership, self.credentials) = (membership, credentials)
        (self.settings, self.isConfined) = (settings, isConfined)
    }
}

/// Receives pictures and commands from other nodes.
@Coordination
package protocol FleetPoolDelegate: AnyObject {
    /// Number of free local slots that no job waits for.
    var spareSlots: Int { get }
    /// Called when the number of pictures that can be lent may have changed, or the fleet has changed.
    func roomChanged()
    /// Called when another node offers a picture. Reply with `accept`, `putOff` or `refuse`.
    func offered(_ id: Int, _ picture: LentPicture, from origin: String)
    /// Called when work on an accepted picture may start: its sources have arrived, or the origin lent it as a URL to
    /// download.
    func fetched(_ id: Int)
    /// Called when this node is done with another node's picture: it was delivered, withdrawn or refused.
    func left(_ id: Int)
    /// Called when this node is done with all pictures of other nodes, because the fleet process has ended.
    func leftAll()
    /// Called when another node sends a command to this node.
    func commanded(
        _ command: NodeCommand, by node: String, done: @escaping @Coordination @Sendable (NodeReport) -> Void)
}

/// Renders pictures of this node that the fleet returns.
@Coordination
protocol FleetLender: AnyObject {
    func takeHome(_ task: RenderTask)
}

/// Runs the fleet process, and lends pictures through it. The process talks to the other nodes. If the process dies,
/// this node renders the lent pictures itself.
@Coordination
package final class FleetPool {
    private static let startTimeout = Duration.seconds(15)
    /// How long the pool waits for a node to start on a lent picture that has not been downloaded yet. After that, the
    /// pool takes the picture back.
    private static let patience = Duration.seconds(30)
    /// Minimum time that the process gets to answer a cancel, even if CancelGrace is shorter: once the process is
    /// killed, this node must render all lent pictures itself.
    private static let leastGrace = Duration.seconds(2)
    /// Memory limit of the process, in bytes: enough for libnats, TLS and the picture data in flight.
    private static let memory: Int64 = 2 << 30

    private struct Loan {
        var task: RenderTask
        /// The node that is rendering the picture, if any.
        var node: String?
        var isTakenBack = false
    }

    private let program: () -> String?
    private let starter = WorkerStarter<FleetProcess>("the fleet's process")
    private var plan: FleetPlan?
    private var lent: [Int: Loan] = [:]
    /// Completion handlers of commands that wait for another node's report, by the command's ID.
    private var commands: [Int: @Coordination @Sendable (NodeReport?) -> Void] = [:]
    private var nextID = 1
    private var price = LendingPrice()
    /// How long the process may take to answer a ping. The time is generous, because the machine may be slow.
    private let longestSilence: Duration
    private var isAsked = false
    /// Number of changes of the server connection so far. Each change starts a timer for TakeBack=, and only the latest
    /// timer takes effect.
    private var losses = 0
    private var places = 0
    package private(set) var state = FleetState()
    /// Versions of this node's filters, by filter name, as in `FleetOrder.filters`.
    private var filters: [String: String] = [:]
    package weak var delegate: (any FleetPoolDelegate)?
    /// Renders the tasks that the fleet returns.
    weak var lender: (any FleetLender)?

    /// `program` returns nil while the fleet program is not installed.
    package init(longestSilence: Duration = .seconds(30), program: @escaping () -> String?) {
        (self.longestSilence, self.program) = (longestSilence, program)
        starter.again = { [weak self] in self?.begin() }
    }

    private var process: FleetProcess? { starter.workers.first { $0.isReady } }

    /// Joins a fleet, switches to another fleet, or leaves the fleet if `plan` is nil. The process restarts only if the
    /// membership or the credentials have changed.
    package func join(_ plan: FleetPlan?) {
        let isSame =
            plan?.membership == self.plan?.membership
            && plan?.credentials.map(\.identity) == self.plan?.credentials.map(\.identity)
        self.plan = plan
        starter.mustBeConfined = plan?.isConfined ?? false
        if !isSame { for worker in starter.workers { worker.leave() } }
        begin()
        delegate?.roomChanged()
    }

    /// Sends the current filters to the process. Pictures that are already lent or accepted are not affected.
    package func use(_ filters: [String: String]) {
        guard filters != self.filters else { return }
        self.filters = filters
        process?.send(FleetOrder.filters(filters))
    }

    package var isJoined: Bool { plan != nil }
    /// Number of lent pictures, except pictures that only test a node.
    package var lentCount: Int { lent.values.count { $0.task.lending?.only == nil } }

    /// Why the fleet does not work although it is configured; nil if there is no problem.
    package var problem: String? {
        guard plan != nil else { return nil }
        return program() == nil ? "the package pipelined-fleet is not installed" : starter.problem ?? state.problem
    }

    private func begin() {
        guard let program = program(), let plan, !starter.isStopped, !starter.isPausing, starter.workers.isEmpty else {
            return
        }
        let worker = starter.start(within: Self.startTimeout) { try FleetProcess(program: program, pool: self) }
        worker?.limitMemory(to: Self.memory)
        worker?.send(FleetOrder.join(plan.membership), descriptors: plan.credentials.map(\.file))
    }

    package func stop(_ done: @escaping @Sendable () -> Void) {
        plan = nil
        for worker in starter.workers { worker.leave() }
        starter.stop(done)
    }

    // MARK: - Lending

    /// Whether the fleet may accept a picture for which there is no local slot.
    package var hasRoom: Bool { hasRoom(besides: lentCount) }

    /// Whether the fleet may accept another picture if `lent` pictures are already lent.
    private func hasRoom(besides lent: Int) -> Bool {
        guard let plan, plan.settings.give != .never else { return false }
        let room = state.room
        return room > 0 && lent < plan.settings.ahead.count ?? room
    }

    /// Whether Give= and the state of the fleet allow lending the picture. `expected` is the processor time that this
    /// node would need to render it.
    func wants(_ task: RenderTask, expected: Duration?) -> Bool {
        guard let lending = task.lending, !task.alone,
            task.files.sources.count + task.files.targets.count <= WorkerChannel.mostDescriptors
        else { return false }
        return wants(task.outputs, lending.bytes, expected: expected)
    }

    /// Like `wants(_:expected:)`, but also for a picture that has not been downloaded yet. `others` is the caller's
    /// count of pictures that other nodes download. The larger of `others` and `lentCount` counts as the number of lent
    /// pictures.
    func wants(_ outputs: [RenderOutput], _ bytes: LentBytes, expected: Duration?, besides others: Int = 0) -> Bool {
        guard hasRoom(besides: max(others, lentCount)), let plan else { return false }
        let filters = filters(of: outputs)
        guard state.has({ $0.places > 0 && $0.equals(Release.version, filters) }) else { return false }
        switch plan.settings.give {
        case .always: return true
        case .never: return false
        case .auto: return expected.map { $0 > price.of(bytes) * 10 } ?? false
        }
    }

    private func filters(of outputs: [RenderOutput]) -> [String: String] {
        let stages = outputs.flatMap(\.stages)
        let names = Set(stages.map(\.name))
        let files = stages.fileDigests.map { ($0, FleetNode.file) }
        return filters.filter { names.contains($0.key) }.merging(files) { $1 }
    }

    private func newID() -> Int {
        defer { nextID += 1 }
        return nextID
    }

    func lend(_ task: RenderTask) {
        guard let process, let lending = task.lending else {
            lender?.takeHome(task)
            return
        }
        let id = newID()
        if task.lentFirst == nil { task.lentFirst = id }
        lent[id] = Loan(task: task)
        lending.lent(nil)
        if lending.isRemoteDownload { awaitBegin(of: id) }
        let limits = LentLimits(
            maxPixels: task.limits.maxPixels, maxTexts: task.limits.maxTexts, maxResult: task.limits.maxResult,
            onTruncated: task.limits.onTruncated, raw: task.limits.raw)
        process.send(
            FleetOrder.lend(
                LentPicture(
                    id: id, name: task.name, priority: lending.priority, outputs: task.outputs,
                    filters: filters(of: task.outputs), limits: limits, bytes: lending.bytes), only: lending.only),
            descriptors: task.files.sources + task.files.targets)
        watch()
        delegate?.roomChanged()
    }

    /// Takes back a cancelled task; returns false if it is not lent. If the process does not return the task within the
    /// grace period, the pool replaces the process.
    func cancel(_ task: RenderTask) -> Bool {
        guard let id = lent.first(where: { $0.value.task === task })?.key else { return false }
        takeBack(id)
        Coordination.after(max(task.limits.cancelGrace, Self.leastGrace)) { [self, weak process] in
            if let process, lent[id] != nil { replace(process) }
        }
        return true
    }

    /// Pings the process while it has lent pictures or commands, and replaces it if it does not answer.
    private func watch() {
        guard !isAsked, let process, !lent.isEmpty || !commands.isEmpty else { return }
        isAsked = true
        process.owesAnswer = true
        process.send(FleetOrder.ping)
        Coordination.after(longestSilence) { [self, weak process] in
            isAsked = false
            if let process, process.owesAnswer { replace(process) } else { watch() }
        }
    }

    private func replace(_ process: FleetProcess) {
        guard !process.killed else { return }
        Log.failure("the fleet's process does not answer, and is replaced; lent pictures are rendered here")
        process.terminate()
    }

    /// Takes back up to `most` pictures, the latest first: pictures that no node is rendering, and pictures whose node
    /// is silent. A picture that has not been downloaded yet can't use a free local slot. So the pool takes such a
    /// picture back only if no node is present, or if its node is silent.
    func takeBack(most: Int) {
        let present = state.present
        let waiting = lent.filter { _, one in
            one.node.map { !present.contains($0) } ?? (one.task.lending?.isRemoteDownload == false || present.isEmpty)
        }
        let under = waiting.values.count(where: \.isTakenBack)
        for id in waiting.keys.sorted(by: >).filter({ lent[$0]?.isTakenBack == false }).prefix(max(0, most - under)) {
            takeBack(id)
        }
    }

    /// Takes back a picture that has not been downloaded yet, if no node starts on it in time.
    private func awaitBegin(of id: Int) {
        Coordination.after(Self.patience) { [self] in if lent[id]?.node == nil { takeBack(id) } }
    }

    private func takeBack(_ id: Int) {
        guard lent[id]?.isTakenBack == false else { return }
        lent[id]?.isTakenBack = true
        process?.send(FleetOrder.takeBack(id))
    }

    private func renderLocally(_ id: Int) {
        guard let task = lent.removeValue(forKey: id)?.task else { return }
        if task.cancelled || starter.isStopped {
            task.done(.failure(.cancelled))
            delegate?.roomChanged()
            return
        }
        // Empties the result files, because a node may have sent part of the results. Uses another queue, because an
        // unresponsive disk would block the coordination queue.
        let targets = task.files.targets
        DispatchQueue(label: "pipelined.files").async { [self] in
            for target in targets { ftruncate(target.number, 0) }
            Coordination.async { [self] in
                lender?.takeHome(task)
                delegate?.roomChanged()
            }
        }
    }

    private func finish(_ id: Int, _ result: Result<[RenderedOutput], RenderTask.Failure>) {
        guard let task = lent.removeValue(forKey: id)?.task else { return }
        task.files = RenderTask.Files(from: [])
        task.done(task.cancelled ? .failure(.cancelled) : result)
        delegate?.roomChanged()
    }

    /// Takes back all lent pictures if this node can't reach a server for the duration of TakeBack=.
    private func awaitServer() {
        losses += 1
        guard let plan, state.server == nil, !lent.isEmpty else { return }
        let mine = losses
        Coordination.after(plan.settings.takeBack) { [self] in
            guard losses == mine, state.server == nil, !lent.isEmpty else { return }
            Log.notice(
                "the fleet's servers have not been reached for \(plan.settings.takeBack.text): "
                    + "lent pictures are rendered here (\(lent.count))")
            for id in lent.keys.sorted() { takeBack(id) }
        }
    }

    // MARK: - Pictures of other nodes

    /// Sets how many pictures of other nodes this node accepts at once.
    package func take(_ places: Int) {
        guard places != self.places else { return }
        self.places = places
        process?.send(FleetOrder.take(places))
    }

    package func accept(_ id: Int, into files: [Descriptor]) {
        process?.send(FleetOrder.accept(id), descriptors: files)
    }

    /// Reports that this node is still working on the accepted pictures. The report goes to the nodes that lent the
    /// pictures.
    package func showLife() { process?.send(FleetOrder.showLife) }

    package func putOff(_ id: Int) { process?.send(FleetOrder.putOff(id)) }

    package func refuse(_ id: Int, because reason: String) {
        process?.send(FleetOrder.refuse(id, reason: reason))
        delegate?.left(id)
    }

    package func sendProgress(_ id: Int, done: Int64, of total: Int64) {
        process?.send(FleetOrder.progress(id, done: done, total: total))
    }

    package func rendered(
        _ id: Int, _ header: PictureHeader, _ outputs: [RenderedOutput], of file: FetchedFile?, in files: [Descriptor]
    ) {
        process?.send(FleetOrder.rendered(id, header, outputs, file), descriptors: files)
        price.moved(.sources(outputs.map(\.bytes)), by: process?.processorTime)
    }

    package func failed(_ id: Int, _ failure: WorkerFailure) { process?.send(FleetOrder.failed(id, failure)) }

    // MARK: - Commands

    /// Sends a command to another node. `done` gets nil if the node is silent or can't be reached.
    package func command(
        _ node: String, _ command: NodeCommand, done: @escaping @Coordination @Sendable (NodeReport?) -> Void
    ) {
        guard let process else { return done(nil) }
        let id = newID()
        commands[id] = done
        process.send(FleetOrder.command(id, command, node: node))
        watch()
    }

    private func execute(_ command: NodeCommand, _ id: Int, by node: String) {
        guard let delegate else { return }
        delegate.commanded(command, by: node) { [weak self] in self?.process?.send(FleetOrder.obeyed(id, $0)) }
    }

    // MARK: - The process's messages

    func received(_ message: FleetMessage, from process: FleetProcess) {
        guard message.isPlausible(results: { lent[$0]?.task.resultCount }) else {
            return process.distrust("something impossible")
        }
        switch message {
        case .hello(_, let missing):
            guard starter.admits(process, missing: missing) else { return }
            process.isReady = true
            process.send(FleetOrder.filters(filters))
            process.send(FleetOrder.take(places))
        case .line(let server, let problem): adopt(server, problem)
        case .node(let node, let isSilent):
            state.hear(node, isSilent: isSilent)
            delegate?.roomChanged()
        case .forgotten(let node): state.forget(node)
        case .begun(let id, let node):
            lent[id]?.node = node
            lent[id]?.task.lending?.lent(node)
            if node == nil {
                if lent[id]?.task.lending?.isRemoteDownload == true { awaitBegin(of: id) }
                delegate?.roomChanged()
            }
        case .progress(let id, let done, let total): lent[id]?.task.reports.progress(done, total)
        case .made(let id, let header, let outputs, let file):
            if let bytes = lent[id]?.task.lending?.bytes { price.moved(bytes, by: process.processorTime) }
            if let file { lent[id]?.task.lending?.downloaded(file) }
            lent[id]?.task.reports.opened(header)
            finish(id, .success(outputs))
        case .failed(let id, let failure): finish(id, .failure(.picture(failure)))
        case .returned(let id): renderLocally(id)
        case .untaken(let id, let reason): finish(id, .failure(.notLent(reason)))
        case .offered(let id, let picture, let origin):
            guard let delegate else {
                return process.send(FleetOrder.refuse(id, reason: "this node takes no pictures"))
            }
            delegate.offered(id, picture, from: origin)
        case .fetched(let id): delegate?.fetched(id)
        case .withdrawn(let id), .delivered(let id): delegate?.left(id)
        case .answered(let id, let report): commands.removeValue(forKey: id)?(report)
        case .commanded(let id, let command, let node): execute(command, id, by: node)
        case .pong: process.owesAnswer = false
        }
    }

    private func adopt(_ server: String?, _ problem: String?) {
        let before = state
        (state.server, state.problem) = (server, problem)
        starter.succeeded()
        if before.server != server {
            if let server { Log.notice("fleet: connected to \(server)") }
            awaitServer()
        }
        if before.problem != problem, let problem { Log.failure("fleet: \(problem)") }
        delegate?.roomChanged()
    }

    func ended(_ process: FleetProcess, _ end: WorkerEnd) {
        if !process.isReady {
            starter.failed("\(end) before it said hello")
        } else if !process.killed, !process.isLeaving, plan != nil, !starter.isStopped {
            starter.failed("\(end)\(lent.isEmpty ? "" : "; lent pictures are rendered here")")
        }
        state = FleetState()
        starter.forget(process)
        for id in lent.keys.sorted() { renderLocally(id) }
        for id in commands.keys.sorted() { commands.removeValue(forKey: id)?(nil) }
        delegate?.leftAll()
        delegate?.roomChanged()
        begin()
    }
}
