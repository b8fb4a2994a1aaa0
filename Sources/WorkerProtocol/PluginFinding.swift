public import PipelineModel

/// What became of a plugin's file when it was tried: one line of JSON on the standard output of `pipelined-render --describe`.
public enum PluginFinding: Codable, Sendable, Hashable {
    case filter(StageDescription)
    /// It can't be a filter, for this reason.
    case refused(String)
    /// A library that does not say that it is one.
    case unrelated

    public static let noSymbol = "it has no symbol 'pipeline_filter'"
}
