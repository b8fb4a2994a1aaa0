import PipelineControl
import SystemCalls

/// One call of a client, and the way back.
final class ControlRequest: Sendable {
    let method: String
    let more: Bool
    let descriptors: [Descriptor]
    let connection: ControlConnection
    private let frame: [UInt8]
    private let oneway: Bool

    init(head: WireCallHead, frame: [UInt8], descriptors: [Descriptor], connection: ControlConnection) {
        method = head.method
        more = head.more ?? false
        oneway = head.oneway ?? false
        self.frame = frame
        self.descriptors = descriptors
        self.connection = connection
    }

    /// The call's parameters. A call without any may leave them out.
    func parameters<Parameters: Codable & Sendable>(_ type: Parameters.Type) throws(ControlError) -> Parameters {
        do {
            return try Wire.decode(Parametered<Parameters>.self, frame).parameters
        } catch {
            throw ControlError.other(name: "org.varlink.service.InvalidParameter", message: Self.name(of: error))
        }
    }

    func reply(_ parameters: some Codable & Sendable, continues: Bool = false) {
        if oneway { return connection.finishWithoutReply() }
        guard let frame = Self.frame(parameters, continues: continues) else { return connection.finishWithoutReply() }
        connection.send(frame, last: !continues)
    }

    func fail(_ error: any Error) {
        if oneway { return connection.finishWithoutReply() }
        let error = error as? ControlError ?? .refused("\(error)")
        guard let frame = try? Wire.frame(WireError(error)) else { return connection.finishWithoutReply() }
        connection.send(frame, last: true)
    }

    static func frame(_ parameters: some Codable & Sendable, continues: Bool) -> [UInt8]? {
        try? Wire.frame(WireReply(parameters: parameters, continues: continues ? true : nil))
    }

    private struct Parametered<Parameters: Decodable>: Decodable {
        var parameters: Parameters

        enum Key: CodingKey { case parameters }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            if container.contains(.parameters) {
                parameters = try container.decode(Parameters.self, forKey: .parameters)
            } else {
                parameters = try Wire.decode(Parameters.self, Array("{}".utf8))
            }
        }
    }

    /// The parameter that a decoding error speaks of.
    private static func name(of error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): key.stringValue
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            context.codingPath.last?.stringValue ?? "parameters"
        default: "parameters"
        }
    }
}
