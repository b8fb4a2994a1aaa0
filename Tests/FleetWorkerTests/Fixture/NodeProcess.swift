import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Runs the fleet process that was built with the tests. The test acts as its supervisor, through a real socket.
final class NodeProcess {
    let name: String
    let channel: WorkerChannel
    let process: pid_t
    let missing: [String]
    /// Received messages that no test has waited for yet.
    private var heard: [FleetMessage] = []
    private var next = 1
    private var isGone = false
    /// A timer that sends the supervisor's signs of life, until `hangs()` cancels it.
    private let life = DispatchSource.makeTimerSource()

    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("pipelined-fleet").path

    /// A timeout, far longer than any message takes on the busiest machine.
    private static let patience = Duration.seconds(600)

    static let filters = ["noir": "1"]

    /// Starts the process, which joins the fleet.
    init(
        _ name: String, _ servers: [String], places: Int = 0, filters: [String: String] = NodeProcess.filters,
        patience: Int = 1000, files paths: [String] = []
    ) throws {
        self.name = name
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        let libraries = getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? ""
        process = try ChildProgram.start(
            [Self.program], environment: ["SWIFT_BACKTRACE=enable=no", "LD_LIBRARY_PATH=\(libraries)"],
            streams: [nothing.number, STDERR_FILENO, STDERR_FILENO, theirs.number])
        channel = WorkerChannel(ours)
        guard case .hello(_, let missing) = try channel.receive(FleetMessage.self)?.message else {
            throw Unexpected("no hello")
        }
        self.missing = missing
        let files = try paths.map { path throws in try Descriptor.open(path, O_RDONLY) }
        try send(.join(FleetMembership(servers: servers, name: name, patienceMilliseconds: patience)), files)
        try send(.filters(filters))
        try send(.take(places))
        life.schedule(deadline: .now(), repeating: .milliseconds(max(1, patience / 4)))
        life.setEventHandler { [channel] in try? channel.send(FleetOrder.showLife) }
        life.activate()
    }

    deinit { kill() }

    func kill() {
        guard !isGone else { return }
        isGone = true
        hangs()
        Glibc.kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Stops the process with SIGSTOP, and waits until each of its threads has stopped.
    func stop() throws {
        var info = siginfo_t()
        guard Glibc.kill(process, SIGSTOP) == 0, waitid(P_PID, id_t(process), &info, WSTOPPED | WNOWAIT) == 0 else {
            throw Unexpected("\(name) can't be stopped")
        }
    }

    /// Simulates a hanging supervisor: its signs of life stop.
    func hangs() { life.cancel() }

    func send(_ order: FleetOrder, _ files: [Descriptor] = []) throws { try channel.send(order, descriptors: files) }

    /// Waits for the first message for which `choose` returns a result. Keeps all other messages.
    func wait<Result>(for what: String, _ choose: (FleetMessage) throws -> Result?) throws -> Result {
        var index = 0
        while true {
            while index < heard.count {
                if let result = try choose(heard[index]) {
                    heard.remove(at: index)
                    return result
                }
                index += 1
            }
            guard channel.isReady(within: Self.patience), let (message, _) = try channel.receive(FleetMessage.self)
            else { throw Unexpected("\(name) never says \(what), but \(heard)") }
            heard.append(message)
        }
    }

    /// Discards all messages that were received so far.
    func forget() { heard = [] }

    /// Returns the number of unread messages that report the end of a lent picture.
    func ends(of id: Int) -> Int {
        heard.filter { message in
            switch message {
            case .made(let one, _, _, _), .failed(let one, _), .returned(let one): one == id
            default: false
            }
        }.count
    }

    // MARK: - The state

    @discardableResult
    func connected() throws -> String {
        try wait(for: "that it is connected") { if case .line(let server?, nil) = $0 { server } else { nil } }
    }

    func problem(with words: String) throws -> String {
        try wait(for: "a problem with “\(words)”") { message in
            if case .line(_, let problem?) = message, problem.contains(words) { problem } else { nil }
        }
    }

    /// Waits until the process reports another node that has this name and that `matches` accepts.
    @discardableResult
    func sees(_ name: String, where matches: (FleetNode) -> Bool = { _ in true }) throws -> FleetNode {
        try wait(for: "that \(name) is there") { message in
            if case .node(let node, false) = message, node.name == name, matches(node) { node } else { nil }
        }
    }

    /// Names of the nodes that unread messages report.
    var names: Set<String> { Set(heard.compactMap { if case .node(let node, _) = $0 { node.name } else { nil } }) }

    func misses(_ name: String) throws {
        try wait(for: "that \(name) is silent") { message in
            if case .node(let node, true) = message, node.name == name { () } else { nil }
        }
    }

    // MARK: - Lending

    /// Lends a picture; returns its ID and the files to which the results are written.
    func lend(
        _ sources: [[UInt8]], outputs: Int = 1, stages: [String] = ["resize", "save"], priority: Priority = .normal,
        filters: [String: String] = [:], maxResult: Int64 = 64 << 20, only: String? = nil
    ) throws -> (id: Int, targets: [Descriptor]) {
        defer { next += 1 }
        let output = RenderOutput(name: nil, stages: stages.map { Stage(name: $0) })
        let picture = LentPicture(
            id: next, name: "picture-\(next).jpg", priority: priority,
            outputs: Array(repeating: output, count: outputs), filters: filters,
            limits: LentLimits(maxPixels: 1 << 30, maxResult: maxResult, onTruncated: .fail, raw: .preview),
            bytes: .sources(sources.map { Int64($0.count) }))
        let targets = try (0..<outputs).map { _ in try Descriptor.memory([]) }
        try send(.lend(picture, only: only), sources.map { try Descriptor.memory($0) } + targets)
        return (next, targets)
    }

    func begun(_ id: Int) throws -> String {
        try wait(for: "that \(id) has begun") { message in
            if case .begun(id, let node) = message { node } else { nil }
        }
    }

    func made(_ id: Int) throws -> (header: PictureHeader, outputs: [RenderedOutput]) {
        try wait(for: "that \(id) is made") { message in
            switch message {
            case .made(id, let header, let outputs, _): return (header, outputs)
            case .failed(id, let failure): throw Unexpected("\(id) has failed: \(failure)")
            case .returned(id): throw Unexpected("\(id) is returned")
            default: return nil
            }
        }
    }

    func failure(of id: Int) throws -> WorkerFailure {
        try wait(for: "that \(id) has failed") { if case .failed(id, let failure) = $0 { failure } else { nil } }
    }

    func returned(_ id: Int) throws {
        try wait(for: "that \(id) is returned") { if case .returned(id) = $0 { () } else { nil } }
    }

    func untaken(_ id: Int) throws -> RefusedOffer {
        try wait(for: "that \(id) is not taken") { if case .untaken(id, let reason) = $0 { reason } else { nil } }
    }

    // MARK: - Taking

    func offered() throws -> (id: Int, picture: LentPicture, origin: String) {
        try wait(for: "an offer") {
            if case .offered(let id, let picture, let origin) = $0 { (id, picture, origin) } else { nil }
        }
    }

    func accept(_ id: Int, _ picture: LentPicture) throws -> [Descriptor] {
        let files = try picture.bytes.sizes.map { _ in try Descriptor.memory([]) }
        try send(.accept(id), files)
        return files
    }

    /// Accepts the next picture, and waits for its sources.
    func fetch() throws -> (id: Int, picture: LentPicture, origin: String, sources: [[UInt8]]) {
        let (id, picture, origin) = try offered()
        let files = try accept(id, picture)
        try wait(for: "that \(id) is fetched") { message in
            switch message {
            case .fetched(id): ()
            case .withdrawn(id): throw Unexpected("\(id) is withdrawn")
            default: nil
            }
        }
        return (id, picture, origin, try files.map { try $0.content })
    }

    func deliver(_ id: Int, _ results: [[UInt8]]) throws {
        let header = PictureHeader(
            format: "jpeg", width: 640, height: 480, bands: 3, bitsPerSample: 8, pages: 1, orientation: 1,
            profile: nil, progressive: false, decoderPaths: results.map { _ in "whole" },
            framesTaken: results.map { _ in 1 }, memory: 1 << 20)
        let outputs = results.map {
            RenderedOutput(format: "jpeg", width: 320, height: 240, bands: 3, bytes: Int64($0.count))
        }
        try send(.rendered(id, header, outputs, nil), results.map { try Descriptor.memory($0) })
    }

    /// Waits for the end of a picture that this node accepted. Returns true if the origin has the results, and false if
    /// the origin withdrew the picture.
    @discardableResult
    func over(_ id: Int) throws -> Bool {
        try wait(for: "that \(id) is over") { message in
            switch message {
            case .delivered(id): true
            case .withdrawn(id): false
            default: nil
            }
        }
    }
}

extension Descriptor {
    /// The content of the whole file, whatever its current position.
    var content: [UInt8] {
        get throws {
            var status = stat()
            guard fstat(number, &status) == 0 else { throw SystemError("fstat", "a file") }
            var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
            guard pread(number, &bytes, bytes.count, 0) == bytes.count else { throw SystemError("read", "a file") }
            return bytes
        }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
