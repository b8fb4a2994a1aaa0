/// Generates the lines of Swift source for several interfaces. Types become members of `Control`, methods become
/// members of `Call`, and errors become cases of `ControlError`.
func swiftSource(of interfaces: [VarlinkText]) -> [String] {
    func each(_ kind: Substring, _ body: (VarlinkText.Member, _ name: String) -> [String]) -> [String] {
        interfaces.flatMap { interface in
            interface.members.filter { $0.kind == kind }.flatMap { body($0, "\(interface.name).\($0.name)") }
        }
    }
    let errors = interfaces.flatMap(\.members).filter { $0.kind == "error" }
    let unknown = ["/// An error that this version does not know.", "case other(name: String, message: String)"]
    let sentUnknown = ["case .other(let name, let message): return (name, ErrorParameters(message: message))"]
    let receivedUnknown = ["default: self = .other(name: name, message: parameters.message ?? \"\")"]
    return ["// swift-format-ignore-file", "// Generated from the .varlink files beside it, by `./run generate`."]
        + block("public enum Control", each("type", type))
        + block("public enum Call", each("method", method))
        + block("public enum ControlError: Error, Sendable, Hashable", errors.flatMap(errorCase) + unknown)
        + block("public struct ErrorParameters: Codable, Sendable", parameters(ofAny: errors))
        + block(
            "extension ControlError",
            block(
                "public var wire: (name: String, parameters: ErrorParameters)",
                block("switch self", each("error", sent) + sentUnknown))
                + block(
                    "public init(name: String, parameters: ErrorParameters)",
                    block("switch name", each("error", received) + receivedUnknown)))
}

private func block(_ head: String, _ body: [String]) -> [String] {
    body.isEmpty ? ["\(head) {}"] : ["\(head) {"] + body.map { "    \($0)" } + ["}"]
}

private func type(_ type: VarlinkText.Member, _: String) -> [String] {
    type.documentation
        + block("public struct \(type.name): Codable, Sendable, Hashable", properties(type.fields))
}

private func method(_ method: VarlinkText.Member, _ name: String) -> [String] {
    method.documentation
        + block(
            "public struct \(method.name): ControlCall",
            [
                "public static let method = \"\(name)\"",
                "public static let parameterNames: [String] = \(method.fields.map(\.name))",
            ] + properties(method.fields, areParameters: true)
                + block("public struct Reply: Codable, Sendable, Hashable", properties(method.reply)))
}

/// Generates the properties of a type, and its initialiser. A missing list decodes as empty. Swift code may omit an
/// initialiser's argument if its value is nil or empty. If the fields are a method's parameters, Swift code may also
/// omit an argument that is false.
private func properties(_ fields: [VarlinkText.Field], areParameters: Bool = false) -> [String] {
    let declarations = fields.flatMap { field in
        let property =
            "\(field.isOptional || field.isList ? "@Omissible " : "")public var \(field.swiftName): \(field.swiftType)"
        return field.comment.map { "/// \($0)" } + [property]
    }
    let parameters = fields.map { field in
        let mayBeFalse = areParameters && field.type == "bool"
        let value = field.isOptional ? " = nil" : field.isList ? " = []" : mayBeFalse ? " = false" : ""
        return "\(field.swiftName): \(field.swiftType)\(value)"
    }
    let names = fields.map(\.swiftName).joined(separator: ", ")
    let own = fields.map { "self.\($0.swiftName)" }.joined(separator: ", ")
    return declarations
        + block("public init(\(parameters.joined(separator: ", ")))", fields.isEmpty ? [] : ["(\(own)) = (\(names))"])
}

// MARK: - Errors

/// Generates an error's case. The first associated value has no label.
private func errorCase(_ error: VarlinkText.Member) -> [String] {
    let values = error.fields.enumerated().map { ($0 == 0 ? "" : "\($1.swiftName): ") + $1.swiftType }
    return error.documentation + ["case \(error.caseName)(\(values.joined(separator: ", ")))"]
}

private func sent(_ error: VarlinkText.Member, _ name: String) -> [String] {
    let names = error.fields.map(\.swiftName)
    let parameters = names.map { "\($0): \($0)" }.joined(separator: ", ")
    return [
        "case .\(error.caseName)(\(names.map { "let \($0)" }.joined(separator: ", "))):",
        "    return (\"\(name)\", ErrorParameters(\(parameters)))",
    ]
}

/// Generates the case that decodes an error. A missing parameter decodes as zero, false or empty.
private func received(_ error: VarlinkText.Member, _ name: String) -> [String] {
    let values = error.fields.enumerated().map { index, field in
        (index == 0 ? "" : "\(field.swiftName): ") + "parameters.\(field.swiftName) ?? \(field.none)"
    }
    return ["case \"\(name)\": self = .\(error.caseName)(\(values.joined(separator: ", ")))"]
}

/// Generates one property for each parameter name. Parameters with the same name share one property.
private func parameters(ofAny errors: [VarlinkText.Member]) -> [String] {
    var known: Set<String> = []
    return errors.flatMap(\.fields).filter { known.insert($0.name).inserted }
        .map { "public var \($0.swiftName): \($0.swiftType)?" }
}

extension VarlinkText.Member {
    fileprivate var documentation: [String] { comment.map { "/// \($0)" } }
    fileprivate var caseName: String { name.prefix(1).lowercased() + name.dropFirst() }
}

extension VarlinkText.Field {
    fileprivate var isOptional: Bool { type.hasPrefix("?") }
    fileprivate var isList: Bool { type.hasPrefix("[]") }
    fileprivate var swiftName: String { name == "default" ? "`default`" : name }
    fileprivate var swiftType: String { Self.swift(type) }

    fileprivate var none: String {
        switch type {
        case "int", "float": "0"
        case "bool": "false"
        case "string": "\"\""
        default: "[]"
        }
    }

    private static func swift(_ type: Substring) -> String {
        if type.hasPrefix("?") { return swift(type.dropFirst()) + "?" }
        if type.hasPrefix("[]") { return "[\(swift(type.dropFirst(2)))]" }
        if type.hasPrefix("[string]") { return "[String: \(swift(type.dropFirst("[string]".count)))]" }
        switch type {
        case "int": return "Int"
        case "float": return "Double"
        case "bool": return "Bool"
        case "string": return "String"
        default: return "Control.\(type)"
        }
    }
}
