import Testing

/// A method of the daemon's Varlink interface, with values to try for its parameters.
struct DescribedMethod {
    let name: String
    let parameters: [(name: String, type: String)]

    /// Returns all methods, from the interface description that the daemon sends.
    static func all(_ client: RawClient) throws -> [DescribedMethod] {
        let reply = try client.ask(
            "org.varlink.service.GetInterfaceDescription", #"{"interface":"org.pipelined.Control"}"#)
        let text = try #require(reply.parameters["description"] as? String)
        let methods = text.matches(of: /\nmethod (\w+)\(([^)]*)\)/).map { match in
            DescribedMethod(
                name: String(match.output.1),
                parameters: match.output.2.split(separator: ",").map { field in
                    let parts = field.split(separator: ":").map { $0.split(whereSeparator: \.isWhitespace).joined() }
                    return (parts[0], parts[1])
                })
        }
        #expect(methods.count >= 22)
        return methods
    }

    /// Returns the parameters as JSON, with harmless values. The parameter whose name is `changed` gets `value`
    /// instead. If `value` is nil, that parameter is left out.
    func json(_ changed: String? = nil, _ value: String? = nil) -> String {
        let fields = parameters.compactMap { name, type in
            let text = name == changed ? value : Self.harmless(type)
            return text.map { "\"\(name)\":\($0)" }
        }
        return "{\(fields.joined(separator: ","))}"
    }

    /// Returns the parameters as JSON, with harmless values. Leaves out the parameters in `names`.
    func json(leavingOut names: [String]) -> String {
        DescribedMethod(name: name, parameters: parameters.filter { !names.contains($0.name) }).json()
    }

    private static func harmless(_ type: String) -> String {
        switch type {
        case "string": "\"x\""
        case "int": "1"
        case "bool": "false"
        default: type.hasPrefix("?") ? "null" : "[]"
        }
    }

    /// Returns values that do not have this type.
    static func wrong(_ type: String) -> [String] {
        let numbers = [
            "1.5", "-0.1", "1e400", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
        ]
        switch type {
        case "string": return ["5", "true", "[]", "{}", "null", "[\"x\"]"]
        case "int": return ["\"1\"", "true", "[]", "{}", "null"] + numbers
        case "bool": return ["\"true\"", "2", "[]", "{}", "null"]
        case "OutputDraft": return ["5", "\"x\"", "true", "[]"]
        default: break
        }
        if type.hasPrefix("?") { return wrong(String(type.dropFirst())).filter { $0 != "null" } }
        let element = String(type.dropFirst(2))
        return ["5", "\"x\"", "{}", "null", "[[]]"] + wrong(element).map { "[\($0)]" }
    }

    /// Returns unusual values that do have this type.
    static func odd(_ type: String) -> [String] {
        switch type {
        case "string":
            return [
                #""""#, #""\u0000""#, #""a\u0000b""#, #""\u001b[2J\nfake line""#, #""../../../etc/passwd""#, #""/""#,
                #""..""#,
                #""\ud83d\ude00""#, #""' OR 1=1; --""#, #""%n%s""#, "\"\(String(repeating: "x", count: 100_000))\"",
                "\"\(String(repeating: "noir | ", count: 2000))\"", "\"\(String(repeating: "(", count: 5000))\"",
            ]
        case "int": return ["0", "-1", "9223372036854775807", "-9223372036854775808", "1e18"]
        case "bool": return ["true"]
        case "OutputDraft": return odd("string").map { #"{"chain":\#($0)}"# }
        default: break
        }
        if type.hasPrefix("?") { return odd(String(type.dropFirst())) }
        let element = String(type.dropFirst(2))
        let one = odd(element)
        return one.map { "[\($0)]" } + ["[\(Array(repeating: one[0], count: 5000).joined(separator: ","))]"]
    }
}
