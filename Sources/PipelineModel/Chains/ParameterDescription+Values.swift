extension ParameterDescription {
    /// Why the declared default is not a valid value, or nil if it is valid.
    public var problemWithDefault: String? {
        guard let defaultValue else { return nil }
        do throws(Refusal) {
            _ = try value(defaultValue)
            return nil
        } catch {
            return "\(name)=\(defaultValue) \(error.sentence)"
        }
    }

    func value(_ text: String) throws(Refusal) -> ArgumentValue {
        switch type {
        case .number:
            guard let number = decimal(text) else { throw Refusal("is not a number", advice: allowed) }
            return .number(try inRange(number))
        case .integer:
            guard let number = Int(text) else { throw Refusal("is not a whole number", advice: allowed) }
            return .number(try inRange(Double(number)))
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "on", "1": return .number(1)
            case "no", "false", "off", "0": return .number(0)
            default: throw Refusal("is neither yes nor no", advice: "it may be yes or no")
            }
        case .choice:
            guard choices.contains(text) else {
                throw Refusal("is unknown", advice: suggestion(for: text, among: choices))
            }
            return .text(text)
        case .colour:
            guard text.count == 7, text.first == "#", text.dropFirst().allSatisfy({ $0.isASCII && $0.isHexDigit })
            else {
                throw Refusal("is not a colour", advice: "write it as #rrggbb, such as #ffffff")
            }
            return .text(text.lowercased())
        case .text:
            return .text(text)
        case .file:
            guard text.isEmpty || !text.contains("/") && choices.contains(where: text.hasSuffix) else {
                let advice = "write the name of a \(choices.alternatives) file in the recipes' folder"
                throw Refusal("is no name of such a file", advice: advice)
            }
            return .text(text)
        }
    }

    /// The possible values, in words.
    public var values: String {
        switch type {
        case .number, .integer: range ?? (type == .integer ? "a whole number" : "a number")
        case .boolean: "yes or no"
        case .choice: choices.alternatives
        case .colour: "a colour, #rrggbb"
        case .text: "a text"
        case .file: "a file, \(choices.alternatives)"
        }
    }

    /// A valid value as written in a chain.
    public var example: String {
        switch type {
        case .number, .integer: (minimum ?? 0).plain
        case .boolean: "yes"
        case .choice: choices.first ?? ""
        case .colour: "#808080"
        case .text: "text"
        case .file: "name\(choices.first ?? "")"
        }
    }

    /// Accepts decimal notation only: `Double` would also accept `nan`, `inf` and hexadecimal.
    private func decimal(_ text: String) -> Double? {
        guard text.allSatisfy({ "0123456789.+-eE".contains($0) }), let number = Double(text), number.isFinite else {
            return nil
        }
        return number
    }

    private func inRange(_ number: Double) throws(Refusal) -> Double {
        guard number >= minimum ?? number, number <= maximum ?? number else {
            throw Refusal("is out of range", advice: allowed)
        }
        return number
    }

    private var allowed: String? { range.map { "it may be \($0)" } }

    private var range: String? {
        let unit = unit.map { " \($0)" } ?? ""
        return switch (minimum, maximum) {
        case (let low?, let high?): "\(low.plain) to \(high.plain)\(unit)"
        case (let low?, nil): "\(low.plain)\(unit) or more"
        case (nil, let high?): "\(high.plain)\(unit) or less"
        case (nil, nil): nil
        }
    }
}

extension Double {
    /// The number, without `.0` if it is whole.
    fileprivate var plain: String {
        Int64(exactly: self).map(String.init) ?? description
    }
}
