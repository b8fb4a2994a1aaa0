import PipelineControl

/// A parsed interface description. It contains only what the comparison with the Swift types needs.
struct InterfaceDescription {
    typealias Fields = [String: String]

    private(set) var types: [String: Fields] = [:]
    private(set) var methods: [String: (parameters: Fields, reply: Fields)] = [:]
    private(set) var errors: [String: Fields] = [:]

    init(_ text: String) {
        let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("#") }
        let code = lines.joined(separator: " ")
        var rest = code[...]
        while let start = rest.firstMatch(of: /\b(type|method|error) (\w+) *\(([^)]*)\)(?: *-> *\(([^)]*)\))?/) {
            let (_, kind, name, fields, reply) = start.output
            switch kind {
            case "type": types[String(name)] = Self.fields(fields)
            case "method": methods[String(name)] = (Self.fields(fields), Self.fields(reply ?? ""))
            default: errors[String(name)] = Self.fields(fields)
            }
            rest = rest[start.range.upperBound...]
        }
    }

    private static func fields(_ text: Substring) -> Fields {
        let pairs = text.split(separator: ",").map { field in
            let parts = field.split(separator: ":").map { $0.trimming(while: \.isWhitespace) }
            return (parts[0], parts[1])
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    /// Returns the paths within the JSON value at which it does not match the type.
    func mismatches(_ value: Any, _ type: String, at place: String) -> [String] {
        if type.hasPrefix("?") {
            return isNull(value) ? [] : mismatches(value, String(type.dropFirst()), at: place)
        }
        if type.hasPrefix("[]"), let list = value as? [Any] {
            return list.flatMap { mismatches($0, String(type.dropFirst(2)), at: place + "[]") }
        }
        if type.hasPrefix("[string]"), let map = value as? [String: Any] {
            return map.values.flatMap { mismatches($0, String(type.dropFirst(8)), at: place + "{}") }
        }
        if let fields = types[type], let object = value as? [String: Any] {
            return mismatches(object, fields, at: place)
        }
        return isScalar(value, type) ? [] : ["\(place): \(value) is no \(type)"]
    }

    func mismatches(_ object: [String: Any], _ fields: Fields, at place: String) -> [String] {
        let (missing, unknown) = (
            Set(fields.keys).subtracting(object.keys), Set(object.keys).subtracting(fields.keys)
        )
        return missing.map { "\(place): no \($0)" } + unknown.map { "\(place): \($0) is not described" }
            + fields.flatMap { name, type in
                object[name].map { mismatches($0, type, at: "\(place).\(name)") } ?? []
            }
    }
}

extension Substring {
    fileprivate func trimming(while predicate: (Character) -> Bool) -> String {
        String(drop(while: predicate).reversed().drop(while: predicate).reversed())
    }
}
