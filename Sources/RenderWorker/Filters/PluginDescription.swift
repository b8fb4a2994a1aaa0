import CPipelinePlugin
import PipelineModel

/// Turns what a plugin says of itself into a stage's description, and refuses what makes no sense.
struct PluginDescription {
    private let filter: PipelineFilter
    private let file: String

    init(_ filter: PipelineFilter, file: String) {
        self.filter = filter
        self.file = file
    }

    func stage() throws(PluginError) -> StageDescription {
        let name = try Self.text(filter.name, "name")
        guard Self.isName(name) else {
            throw PluginError("'\(name)' can't be a filter's name: letters a-z, digits and - can")
        }
        guard StageCatalog.builtIn[name] == nil else { throw PluginError("'\(name)' is a stage that is built in") }
        var parameters: [ParameterDescription] = []
        for index in 0..<filter.parameter_count {
            guard let raw = filter.parameters?[index] else { throw PluginError("its parameters are missing") }
            let parameter = try parameter(raw)
            guard !parameters.contains(where: { $0.name == parameter.name }) else {
                throw PluginError("it has two parameters '\(parameter.name)'")
            }
            parameters.append(parameter)
        }
        let stage = StageDescription(
            name: name, summary: try Self.text(filter.summary, "summary"),
            version: try Self.text(filter.version, "version"), file: file, parameters: parameters, traits: traits)
        guard unsafeBitCast(filter.apply, to: UInt.self) != 0 else { throw PluginError("it has no function 'apply'") }
        do {
            // The defaults pass the same check as what is written in a chain.
            _ = try Chain(parsing: name, catalog: StageCatalog(filters: [stage]))
        } catch {
            throw PluginError("a default is not allowed by its own description: \(error.message)")
        }
        return stage
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 40
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }

    private var traits: Set<StageTrait> {
        let all: [(PipelineTrait, StageTrait)] = [
            (PIPELINE_LUMA_ONLY, .lumaOnly), (PIPELINE_POINTWISE, .pointwise), (PIPELINE_CHANGES_SIZE, .changesSize),
        ]
        return Set(all.filter { filter.traits & $0.0.rawValue != 0 }.map(\.1))
    }

    private func parameter(_ raw: PipelineParameter) throws(PluginError) -> ParameterDescription {
        let name = try Self.text(raw.name, "parameter's name")
        guard Self.isName(name) else { throw PluginError("'\(name)' can't be a parameter's name") }
        let types: [UInt32: ParameterType] = [
            PIPELINE_NUMBER.rawValue: .number, PIPELINE_INTEGER.rawValue: .integer,
            PIPELINE_BOOLEAN.rawValue: .boolean, PIPELINE_CHOICE.rawValue: .choice,
            PIPELINE_COLOUR.rawValue: .colour, PIPELINE_TEXT.rawValue: .text,
        ]
        guard let type = types[raw.type.rawValue] else {
            throw PluginError("its parameter '\(name)' has the unknown type \(raw.type.rawValue)")
        }
        let isNumeric = type == .number || type == .integer
        if isNumeric, !(raw.minimum <= raw.maximum) { throw PluginError("its parameter '\(name)' has an empty range") }
        var choices: [String] = []
        if type == .choice, var choice = raw.choices {
            while let text = choice.pointee {
                choices.append(String(cString: text))
                choice += 1
            }
        }
        if type == .choice, choices.isEmpty { throw PluginError("its parameter '\(name)' has no choices") }
        return ParameterDescription(
            name: name, type: type, minimum: isNumeric ? raw.minimum : nil, maximum: isNumeric ? raw.maximum : nil,
            defaultValue: raw.default_value.map { String(cString: $0) }, choices: choices,
            unit: raw.unit.map { String(cString: $0) }, help: try Self.text(raw.help, "help of '\(name)'"))
    }

    /// The contract says that it is not null; whether it is, the plugin decides.
    private static func text(_ pointer: UnsafePointer<CChar>, _ what: String) throws(PluginError) -> String {
        guard UInt(bitPattern: pointer) != 0 else { throw PluginError("its \(what) is missing") }
        return String(cString: pointer)
    }
}
