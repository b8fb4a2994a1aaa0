import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls

/// Calls that add files and URLs.
extension ControlService {
    func addAddingCalls() {
        onPassing(Call.Add.self) { [self] call, passed, request in try add(call, passed, request) }
        onOwners(Call.NewFile.self) { [self] call, request in
            daemon.makeFile(bytes: Int64(call.bytes)) { file in
                switch file {
                case .success(let file): request.reply(Call.NewFile.Reply(), beside: [file])
                case .failure(let failure): request.fail(self.said(failure))
                }
            }
        }
        onPassing(Call.AddList.self) { [self] call, passed, request in
            let file = try Self.file(beside: "AddList", passed)
            add(call, file, answering: request) { request.reply($0) }
        }
        onPassing(Call.AddUrls.self) { [self] call, _, request in
            let (list, file) = try Self.list(of: call)
            add(list, file, answering: request) { reply in
                request.reply(Call.AddUrls.Reply(batch: reply.batch, first: reply.first, last: reply.last))
            }
        }
    }

    static func file(beside call: String, _ passed: PassedDescriptors) throws(ControlError) -> Descriptor {
        if passed.lost, passed.descriptors.isEmpty {
            throw .refused("the file passed beside \(call) could not be taken: the daemon has too many open; try again")
        }
        guard let file = passed.descriptors.first, passed.descriptors.count == 1 else {
            throw .badValue("\(call) takes one open file beside the call; \(passed.descriptors.count) came")
        }
        return file
    }

    private static let longestFolder = 2000

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255 && !name.contains("\0")
    }

    private func add(
        _ call: Call.Add, _ passed: PassedDescriptors, _ request: ControlRequest
    ) throws(ControlError) {
        let file = try Self.file(beside: "Add", passed)
        let name = FileSystem.name(of: call.name)
        guard Self.isName(name) else { throw .badValue("'\(call.name)' can't be the name of a picture") }
        if let folder = call.folder {
            let parts = folder.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.first != daemon.ownFolders.staging else {
                throw .badValue("'\(folder.prefix(200))' is the daemon's own folder of the outbox; name another")
            }
            guard parts.allSatisfy(Self.isName), folder.utf8.count <= Self.longestFolder else {
                throw .badValue(
                    "'\(folder.prefix(200))' can't be a folder of the outbox; it is a relative path of at most "
                        + "\(Self.longestFolder) bytes")
            }
        }
        Coordination.async { [self] in
            do throws(ControlError) {
                try add(call, name: name, file: file, for: request) { result in
                    switch result {
                    case .success(let record):
                        request.reply(Call.Add.Reply(job: record.shown(state: record.state, reason: record.reason)))
                    case .failure(let error): request.fail(error)
                    }
                }
            } catch {
                request.fail(error)
            }
        }
    }
}

@Coordination
extension ControlService {
    private func add(
        _ call: Call.Add, name: String, file: Descriptor, for request: ControlRequest,
        done: @escaping @Sendable (Result<JobRecord, ControlError>) -> Void
    ) throws(ControlError) {
        let terms = try terms(call, of: request)
        write(for: request)
        Log.notice(
            "add of \(name) to '\(terms.order.recipe)' asked for by \(terms.peer)",
            of: LogSubject(recipe: terms.order.recipe, input: name))
        request.work(on: FileLanes.copies(of: file)) { [self] in
            daemon.add(file, named: name, in: call.folder, terms) { [self] result in done(result.mapError(said)) }
        }
    }

    nonisolated func said(_ failure: AddingFailure) -> ControlError {
        switch failure {
        case .unfit(let why): .badValue(why)
        case .failed(let why): .refused(why)
        case .needs(let answer, let job): error(answer, of: job) ?? .refused("job \(job) can't be added")
        }
    }

    /// Returns the terms under which a client adds files or URLs. Throws if the daemon can't accept them.
    func terms(_ call: some AddingCall, of request: ControlRequest) throws(ControlError) -> AddingTerms {
        guard !daemon.isStopping else { throw .refused("the daemon is stopping; try again when it is back") }
        let order = try order(recipe: call.recipe, chain: call.chain, raw: call.raw)
        if let batch = call.batch, !daemon.knows(batch: batch) {
            throw .badValue("there is no batch \(batch); NewBatch opens one")
        }
        try check(call.after ?? [])
        return AddingTerms(
            order: order, batch: call.batch, after: call.after ?? [], anyway: call.anyway ?? false,
            priority: try call.priority.map(priority(named:)), peer: request.connection.peer,
            owner: request.connection.owner)
    }

    /// `raw` is only allowed with a chain, because a recipe has its own setting, `Raw=`.
    func order(recipe: String?, chain: String?, raw: String? = nil) throws(ControlError) -> WorkOrder {
        if let chain {
            guard recipe == nil else { throw .badValue("either a recipe or a chain can be given, not both") }
            var order = daemon.order(for: try parse(chain))
            if let raw { order.raw = try policy(raw) }
            return order
        }
        guard raw == nil else { throw .badValue("raw goes with a chain; a recipe has Raw=") }
        let current = daemon.configurationInForce
        let name = recipe ?? current.defaultRecipe.name
        guard let found = current.recipe(name) else { throw missing(recipe: name) }
        return daemon.order(for: found)
    }

    private func policy(_ raw: String) throws(ControlError) -> RawPolicy {
        if let policy = RawPolicy(rawValue: raw) { return policy }
        let known = RawPolicy.allCases.map(\.rawValue).joined(separator: " or ")
        throw .badValue("'\(raw.prefix(50))' is not a way to read a raw file; it is \(known)")
    }

    func parse(_ chain: String) throws(ControlError) -> Chain {
        guard chain.utf8.count <= ControlInterface.longestChain else {
            throw .badValue(
                "a chain has at most \(ControlInterface.longestChain) bytes; this one has \(chain.utf8.count)")
        }
        do throws(ChainProblem) {
            let most = daemon.configurationInForce.settings.maxStages
            return try Chain(parsing: chain, catalog: daemon.catalog, mostStages: most)
        } catch {
            throw .badChain(error.message, column: error.column)
        }
    }
}

/// A call that adds files or URLs. All such calls share these parameters.
protocol AddingCall {
    var recipe: String? { get }
    var chain: String? { get }
    var raw: String? { get }
    var batch: Int? { get }
    var after: [Int]? { get }
    var anyway: Bool? { get }
    var priority: String? { get }
}

extension Call.Add: AddingCall {}
extension Call.AddList: AddingCall {}
