import PipelineModel

/// The parameters of a call that a client has sent. Decoding throws a `ControlError` if the client has set a parameter
/// that the method does not have.
public struct ReceivedParameters<Call: ControlCall>: Decodable {
    public let call: Call

    public init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: ParameterName.self)
        // Accepts null, because a newer client sends null for a new parameter that it does not use.
        for name in names.allKeys where !Call.parameterNames.contains(name.stringValue) {
            if try !names.decodeNil(forKey: name) { throw Self.unknown(name.stringValue) }
        }
        call = try Call(from: decoder)
    }

    private static func unknown(_ name: String) -> ControlError {
        let method = Call.method.split(separator: ".").last ?? ""
        let name = String(name.prefix(100))
        return .badValue("\(method) has no parameter '\(name)'\(didYouMean(name, among: Call.parameterNames))")
    }
}

private struct ParameterName: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { return nil }
}
