import DaemonRuntime
import PipelineControl
import Synchronization
import SystemCalls

/// A client's call, with the methods that answer it.
final class ControlRequest: Sendable {
    let method: String
    let more: Bool
    let connection: ControlConnection
    private let frame: [UInt8]
    private let oneway: Bool
    private let answered = Mutex(false)

    init(head: WireCallHead, frame: [UInt8], connection: ControlConnection) {
        method = head.method
        oneway = head.oneway ?? false
        more = head.more ?? false && !oneway
        (self.frame, self.connection) = (frame, connection)
    }

    /// Decodes the call's parameters. A missing `parameters` counts as an empty object.
    func parameters<Call: ControlCall>(_ type: Call.Type) throws(ControlError) -> Call {
        try Self.parameters(type, in: frame)
    }

    static func parameters<Call: ControlCall>(_ type: Call.Type, in frame: [UInt8]) throws(ControlError) -> Call {
        do {
            return try Wire.decode(Parametered<Call>.self, frame).parameters
        } catch let error as ControlError {
            throw error
        } catch {
            throw ControlError.invalidParameter(name(of: error))
        }
    }

    /// Runs `body`, which may block on a disk, on a file lane. If the lane is full, the request fails immediately. If
    /// the client disconnects before `body` starts, `body` never runs.
    func work(on lane: FileLane, _ body: @escaping @Sendable () -> Void) {
        do {
            let place = try lane.take(body)
            connection.whenAbandoned { [connection] in
                if place.withdraw() { connection.finishWithoutReply() }
            }
        } catch {
            fail(ControlError.refused("\(error)"))
        }
    }

    var isAnswered: Bool { answered.withLock { $0 } }

    /// Returns true for the first answer only. Later answers are dropped: the request may have failed already because
    /// the ledger can't be written.
    private func takeAnswer() -> Bool {
        answered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
    }

    func reply(_ parameters: some Codable & Sendable, beside descriptors: [Descriptor] = []) {
        guard takeAnswer() else { return }
        if oneway { return connection.finishWithoutReply() }
        connection.send(Self.frame(parameters, continues: false), descriptors, last: true)
    }

    func fail(_ error: any Error) {
        guard takeAnswer() else { return }
        if oneway { return connection.finishWithoutReply() }
        connection.send(Self.frame(error as? ControlError ?? .refused("\(error)")), last: true)
    }

    static func frame(_ parameters: some Codable & Sendable, continues: Bool) -> [UInt8] {
        do {
            return try Wire.frame(WireReply(parameters: parameters, continues: continues ? true : nil))
        } catch {
            return frame(.refused("the answer can't be written as JSON: \(error)"))
        }
    }

    static func frame(_ error: ControlError) -> [UInt8] { (try? Wire.frame(WireError(error))) ?? [] }

    private struct Parametered<Call: ControlCall>: Decodable {
        var parameters: Call

        private enum Key: CodingKey { case parameters }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            guard container.contains(.parameters) else {
                parameters = try Wire.decode(Call.self, Array("{}".utf8))
                return
            }
            parameters = try container.decode(ReceivedParameters<Call>.self, forKey: .parameters).call
        }
    }

    /// The name of the parameter that caused a decoding error.
    private static func name(of error: any Error) -> String {
        var path: [any CodingKey] = []
        switch error {
        case DecodingError.keyNotFound(let key, let context): path = context.codingPath + [key]
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            path = context.codingPath
        default: break
        }
        return path.first { $0.intValue == nil && $0.stringValue != "parameters" }?.stringValue ?? "parameters"
    }
}
