import CPipelinePlugin
import PipelineModel

/// Converts a plugin's description of itself to a `StageDescription`, and rejects an invalid description.
struct PluginDescription {
    private let layout: PluginLayout
    private let file: String

    private static let longestText = 400
    private static let mostWords = 64

    init(_ layout: PluginLayout, file: String) {
        (self.layout, self.file) = (layout, file)
    }

    func stage() throws(PluginError) -> StageDescription {
        let filter = layout.filter
        let name = try Self.text(filter.name, "name")
        guard Self.isName(name) else {
            throw PluginError("'\(name)' can't be a filter's name: letters a-z, digits and - can, 40 of them at most")
        }
        guard StageCatalog.builtIn[name] == nil else { throw PluginError("'\(name)' is a stage that is built in") }
        var parameters: [ParameterDescription] = []
        for raw in layout.parameters {
            let parameter = try parameter(raw)
            guard !parameters.contains(where: { $0.name == parameter.name }) else {
                throw PluginError("it has two parameters '\(parameter.name)'")
            }
            parameters.append(parameter)
        }
        guard PluginLayout.code(of: filter) != nil else { throw PluginError("it has no function 'apply'") }
        return StageDescription(
            name: name, summary: try Self.text(filter.summary, "summary"),
            version: try Self.text(filter.version, "version"),
            author: try filter.author.map { author throws(PluginError) in try Self.text(author, "author") },
            file: file, parameters: parameters, traits: try traits(),
            atLeastOneOf: try names(filter.at_least_one_of, among: parameters, "at_least_one_of"),
            atMostOneOf: try names(filter.at_most_one_of, among: parameters, "at_most_one_of"),
            needsColours: try names(filter.needs_colours, among: parameters, "needs_colours"))
    }

    private func names(
        _ list: UnsafePointer<UnsafePointer<CChar>?>?, among parameters: [ParameterDescription], _ what: String
    ) throws(PluginError) -> [String] {
        let names = try Self.words(list, "name in \(what)", "its \(what) has more names")
        for name in names where !parameters.contains(where: { $0.name == name }) {
            throw PluginError("its \(what) names '\(name)', which is none of its parameters")
        }
        return names
    }

    private static func words(
        _ list: UnsafePointer<UnsafePointer<CChar>?>?, _ what: String, _ tooMany: String
    ) throws(PluginError) -> [String] {
        guard var place = list else { return [] }
        var words: [String] = []
        while let text = place.pointee {
            guard words.count < mostWords else {
                throw PluginError("\(tooMany) than \(mostWords); end them with NULL")
            }
            words.append(try Self.text(text, what))
            place += 1
        }
        return words
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 40
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }

    /// Ignores unknown traits, which newer versions of the contract may have.
    private func traits() throws(PluginError) -> Set<StageTrait> {
        let all: [(PipelineTrait, StageTrait)] = [
            (PIPELINE_LUMA_ONLY, .lumaOnly), (PIPELINE_POINTWISE, .pointwise), (PIPELINE_CHANGES_SIZE, .changesSize),
            (PIPELINE_CURVE, .curve), (PIPELINE_DRAWS_TEXT, .drawsText),
            (PIPELINE_WHOLE_PICTURE, .wholePicture), (PIPELINE_MOVES_PIXELS, .movesPixels),
            (PIPELINE_KEEPS_GAIN_MAP, .keepsGainMap),
            (PIPELINE_READS_TEXTS, .readsTexts),
        ]
        let traits = Set(all.filter { layout.filter.traits & $0.0.rawValue != 0 }.map(\.1))
        guard !traits.isSuperset(of: [.pointwise, .changesSize]) else {
            throw PluginError("it says that it is pointwise, and that it changes the size: one of them is not so")
        }
        guard !traits.isSuperset(of: [.keepsGainMap, .changesSize]) else {
            throw PluginError("it says that it keeps gain maps, and that it changes the size: one of them is not so")
        }
        guard !traits.isSuperset(of: [.pointwise, .readsTexts]) else {
            throw PluginError("it says that it is pointwise, and that it reads texts: one of them is not so")
        }
        guard !traits.contains(.curve) || traits.contains(.pointwise) else {
            throw PluginError("it has the trait 'curve', which requires the trait 'pointwise'")
        }
        guard !traits.contains(.movesPixels) || layout.filter.arrange != nil else {
            throw PluginError("it has the trait 'moves pixels', but no function 'arrange'")
        }
        return traits
    }

    private func parameter(_ raw: PipelineParameter) throws(PluginError) -> ParameterDescription {
        let name = try Self.text(raw.name, "parameter's name")
        guard Self.isName(name) else {
            throw PluginError("'\(name)' can't be a parameter's name: letters a-z, digits and - can, 40 at most")
        }
        let types: [UInt32: ParameterType] = [
            PIPELINE_NUMBER.rawValue: .number, PIPELINE_INTEGER.rawValue: .integer,
            PIPELINE_BOOLEAN.rawValue: .boolean, PIPELINE_CHOICE.rawValue: .choice,
            PIPELINE_COLOUR.rawValue: .colour, PIPELINE_TEXT.rawValue: .text,
            PIPELINE_FILE.rawValue: .file,
        ]
        guard let type = types[raw.type.rawValue] else {
            throw PluginError("its parameter '\(name)' has the unknown type \(raw.type.rawValue)")
        }
        let isNumeric = type == .number || type == .integer
        if isNumeric, !(raw.minimum <= raw.maximum && raw.minimum.isFinite && raw.maximum.isFinite) {
            throw PluginError("the range of its parameter '\(name)' is \(raw.minimum) to \(raw.maximum), which is none")
        }
        let parameter = ParameterDescription(
            name: name, type: type, minimum: isNumeric ? raw.minimum : nil, maximum: isNumeric ? raw.maximum : nil,
            defaultValue: try raw.default_value.map { text throws(PluginError) in
                try Self.text(text, "default of '\(name)'", mayBeEmpty: true)
            },
            isRequired: raw.default_value == nil,
            choices: type == .choice || type == .file ? try choices(raw, of: name) : [],
            unit: try raw.unit.map { unit throws(PluginError) in try Self.text(unit, "unit of '\(name)'") },
            help: try Self.text(raw.help, "help of '\(name)'"))
        if let problem = parameter.problemWithDefault {
            throw PluginError("a default is not allowed by its own description: \(problem)")
        }
        return parameter
    }

    private func choices(_ raw: PipelineParameter, of name: String) throws(PluginError) -> [String] {
        let choices = try Self.words(raw.choices, "choice of '\(name)'", "its parameter '\(name)' has more choices")
        guard !choices.isEmpty else { throw PluginError("its parameter '\(name)' has no choices") }
        return choices
    }

    /// The contract forbids a null pointer, but a plugin may break the contract.
    private static func text(
        _ pointer: UnsafePointer<CChar>, _ what: String, mayBeEmpty: Bool = false
    ) throws(PluginError) -> String {
        guard UInt(bitPattern: pointer) != 0 else { throw PluginError("its \(what) is missing") }
        guard let text = String(validatingCString: pointer), text.utf8.count <= longestText else {
            throw PluginError("its \(what) is not UTF-8 of at most \(longestText) bytes")
        }
        guard mayBeEmpty || !text.isEmpty else { throw PluginError("its \(what) is empty") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw PluginError("its \(what) is more than one line")
        }
        return text
    }
}
