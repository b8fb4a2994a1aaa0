import Glibc
import PipelineControl
import SystemCalls

/// Everything that a verb needs to run: its invocation, the connection to the daemon, and the output.
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

    /// The connection for calls, opened on first use.
    func client() throws -> ControlClient {
        if let connection { return connection }
        let new = try connect()
        connection = new
        return new
    }

    /// Opens a separate connection, for a stream that runs beside the calls.
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

    /// Makes the call for each chunk of at most `mostIDs` IDs. If `ids` is empty, makes a single call, without IDs.
    func inTurn(_ ids: [Int], _ call: ([Int]) throws -> Void) rethrows {
        for start in stride(from: 0, to: max(1, ids.count), by: ControlInterface.mostIDs) {
            try call(Array(ids[start..<min(ids.count, start + ControlInterface.mostIDs)]))
        }
    }

    /// Reports a failure that doesn't stop the command.
    func complain(_ failure: Failure) throws {
        try output.flush()
        Program.report(failure, json: json)
    }
}
