package import DaemonInterface
import DaemonRuntime
import Dispatch
import PipelineControl
import ServiceProgram
package import WorkerProtocol

/// Executes a call for another node, as a client of this daemon's own control socket.
package enum OwnCall {
    private static let queue = DispatchQueue(label: "pipelined.fleet.calls")
    /// Timeout in seconds. The call may hang on a disk.
    private static let patience = 5

    package static func make(_ question: NodeQuestion, at socket: String, done: @escaping CommandRefusal.Done) {
        queue.async {
            let result = Result { try reply(to: question, at: socket) }
            Coordination.async {
                done(
                    result.map { NodeReport(reply: $0) }.mapError { CommandRefusal.refused("\($0)") })
            }
        }
    }

    private static func reply(to question: NodeQuestion, at socket: String) throws -> String {
        let client = try ControlClient(path: socket)
        client.wait(atMost: patience)
        func call<Call: ControlCall>(_: Call.Type) throws -> [UInt8] {
            let frame = Array(#"{"parameters":\#(question.parameters)}"#.utf8)
            return try Wire.encode(client.call(ControlRequest.parameters(Call.self, in: frame)))
        }
        let reply =
            switch question.call {
            case .status: try call(Call.Status.self)
            case .list: try call(Call.List.self)
            case .show: try call(Call.Show.self)
            }
        guard reply.count <= NodeReport.longestReply else {
            throw ControlError.refused(
                "its answer has \(reply.count) bytes; at most \(NodeReport.longestReply) are allowed; ask for less")
        }
        return String(decoding: reply, as: UTF8.self)
    }
}
