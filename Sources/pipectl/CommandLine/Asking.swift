import PipelineControl

/// A node's answer to a read-only call.
struct NodeAnswer<Reply: Sendable>: Sendable {
    var node: String
    var answer: Result<Reply, NodeSilence>
}

struct NodeSilence: Error {
    var node: String
    var reason: String
}

extension ChosenNodes {
    /// Makes the call on all chosen nodes concurrently.
    func ask<Request: ControlCall>(_ call: Request, _ context: Context) throws -> [NodeAnswer<Request.Reply>] {
        let parameters = String(decoding: try Wire.encode(call), as: UTF8.self)
        let method = String(Request.method.split(separator: ".").last ?? "")
        let reply = try context.call(Call.Ask(nodes: names, call: method, parameters: parameters))
        return reply.answers.map { answer in
            let read = answer.reply.flatMap { try? Wire.decode(Request.Reply.self, Array($0.utf8)) }
            let silence = NodeSilence(node: answer.node, reason: answer.error ?? "its answer can't be understood")
            return NodeAnswer(node: answer.node, answer: read.map { .success($0) } ?? .failure(silence))
        }
    }
}

/// Encodes the fields of `value` at the top level, together with the field `node`.
struct OfNode<Value: Encodable>: Encodable {
    var node: String
    var value: Value

    private enum Key: CodingKey { case node }

    func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(node, forKey: .node)
    }
}

extension Context {
    /// Reports silent nodes on standard error.
    func report(_ silent: [NodeSilence]) throws -> ExitCode {
        for one in silent { try complain(Failure("NoAnswer", "\(one.node): \(one.reason)", .failed)) }
        return silent.isEmpty ? .done : .failed
    }
}
