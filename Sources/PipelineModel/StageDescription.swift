/// Describes a stage, to check chains, print help and plan work. Built-in stages are described in code, filters by
/// their plugin.
public struct StageDescription: Codable, Sendable, Hashable {
    public var name: String
    public var summary: String
    public var version: String?
    public var author: String?
    /// The plugin's file; nil for a built-in stage.
    public var file: String?
    /// The file's SHA-256, which distinguishes versions of a filter.
    public var digest: String?
    public var parameters: [ParameterDescription]
    public var traits: Set<StageTrait>
    /// Unless this is empty, a chain must give at least one of these parameters.
    public var atLeastOneOf: [String]
    /// A chain may give at most one of these parameters.
    public var atMostOneOf: [String]
    /// The traits `lumaOnly`, `curve` and `keepsGainMap` don't hold for a stage that gives one of these parameters.
    public var needsColours: [String]

    public init(
        name: String, summary: String, version: String? = nil, author: String? = nil, file: String? = nil,
        parameters: [ParameterDescription], traits: Set<StageTrait> = [], atLeastOneOf: [String] = [],
        atMostOneOf: [String] = [], needsColours: [String] = []
    ) {
        (self.name, self.summary, self.version, self.author, self.file) = (name, summary, version, author, file)
        (self.parameters, self.traits, self.atLeastOneOf) = (parameters, traits, atLeastOneOf)
        (self.atMostOneOf, self.needsColours) = (atMostOneOf, needsColours)
    }

    /// Returns the traits that hold for a stage with these arguments.
    public func traits(of stage: Stage) -> Set<StageTrait> {
        guard needsColours.contains(where: given(in: stage).contains) else { return traits }
        return traits.subtracting([.lumaOnly, .curve, .keepsGainMap])
    }

    /// The parameters whose values differ from the defaults.
    func given(in stage: Stage) -> [String] {
        parameters.filter { parameter in
            stage.arguments[parameter.name] != parameter.defaultValue.flatMap { try? parameter.value($0) }
        }.map(\.name)
    }
}

/// A property or requirement of a stage, as in `pipeline_plugin.h`.
public enum StageTrait: String, Codable, Sendable, CaseIterable {
    case lumaOnly = "luma only"
    case pointwise
    case changesSize = "changes size"
    case curve
    case drawsText = "draws text"
    case wholePicture = "whole picture"
    case movesPixels = "moves pixels"
    case keepsGainMap = "keeps gain map"
    case readsTexts = "reads texts"
}

public enum ParameterType: String, Codable, Sendable, CaseIterable {
    case number, integer, boolean, choice, colour, text, file
}

/// A parameter of a stage, written `name=value` in a chain.
public struct ParameterDescription: Codable, Sendable, Hashable {
    public var name: String
    public var type: ParameterType
    public var minimum: Double?
    public var maximum: Double?
    /// The default value, as written in a chain. Required parameters have none. An optional parameter without a default
    /// may be absent from `Stage.arguments`, and the stage then decides what to do.
    public var defaultValue: String?
    public var isRequired: Bool
    /// The values of a `choice`; for a `file`, the suffixes that its name may have.
    public var choices: [String]
    public var unit: String?
    public var help: String

    public init(
        name: String, type: ParameterType, minimum: Double? = nil, maximum: Double? = nil,
        defaultValue: String? = nil, isRequired: Bool = false, choices: [String] = [], unit: String? = nil,
        help: String
    ) {
        (self.name, self.type, self.minimum, self.maximum) = (name, type, minimum, maximum)
        (self.defaultValue, self.isRequired, self.choices, self.unit) = (defaultValue, isRequired, choices, unit)
        self.help = help
    }
}
