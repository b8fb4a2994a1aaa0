import Glibc
import PipelineControl
import SystemCalls

/// The tools of a verb: the request, the daemon, and the output.
final class Context {
    let invocation: Invocation
    let output: Output
    let address: SocketAddress
    private var connection: ControlClient?

    init(_ invocation: Invocation) throws(Failure) {
        self.invocation = invocation
        output = Output(color: try invocation.choice(.color, among: ColorChoice.self) ?? .auto)
        address = SocketAddress(
            socket: invocation.value(.socket), root: invocation.value(.root),
            instance: invocation.value(.instance),
            variable: getenv(SocketAddress.variable).map { String(cString: $0) })
    }

    var json: Bool { invocation.has(.json) }

    /// The connection for calls, made when it is first needed.
    func client() throws -> ControlClient {
        if let connection { return connection }
        let new = try connect()
        connection = new
        return new
    }

    /// A separate connection, for a conversation beside the calls.
    func connect() throws(Failure) -> ControlClient {
        do {
            return try ControlClient(path: address.path)
        } catch {
            throw Unreachable(address: address, cause: error).failure
        }
    }

    func call<Request: ControlCall>(_ call: Request, descriptors: [Descriptor] = []) throws -> Request.Reply {
        try client().call(call, descriptors: descriptors)
    }

    /// Makes the same call for portions of the IDs, each as large as a call allows.
    func inTurn(_ ids: [Int], _ call: ([Int]) throws -> Void) rethrows {
        for start in stride(from: 0, to: max(1, ids.count), by: ControlInterface.mostIDs) {
            try call(Array(ids[start..<min(ids.count, start + ControlInterface.mostIDs)]))
        }
    }

    /// Reports a failure after which the rest of the work goes on.
    func complain(_ failure: Failure) throws {
        try output.flush()
        Program.report(failure, json: json)
    }
}
