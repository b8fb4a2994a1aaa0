import PipelineControl

/// A word that begins with dashes. If `value` is set, the option takes a value: `--name VALUE` or `--name=VALUE`.
struct Option: Sendable {
    let name: String
    /// The short form, such as `-n`.
    let short: String?
    let value: String?
    /// Whether job IDs that follow the option's value are further values of the option.
    let takesIDs: Bool
    /// The kinds of the value. Jobs and fixed words may form a comma-separated list.
    let kinds: [WordKind]
    let help: String

    init(
        _ name: String, short: String? = nil, value: String? = nil, takesIDs: Bool = false, kinds: [WordKind] = [],
        _ help: String
    ) {
        (self.name, self.short, self.value, self.takesIDs) = (name, short, value, takesIDs)
        (self.kinds, self.help) = (kinds, help)
    }

    /// The option's names, as help shows them.
    var names: String { short.map { "\($0), \(name)" } ?? name }
    var written: String { value.map { "\(names) \($0)" } ?? names }

    func isCalled(_ word: String) -> Bool { name == word || short == word }
}

/// Every verb understands these options, anywhere on the line.
extension Option {
    static let json = Option("--json", short: "-j", "print JSON, with stable names; errors are JSON, too")
    static let color = Option(
        "--color", value: "WHEN", kinds: [.oneOf(ColorChoice.allCases.map(\.rawValue))],
        "colour: auto (a terminal, and NO_COLOR is not set), always or never")
    static let socket = Option(
        "--socket", value: "PATH", kinds: [.file],
        "the daemon's socket; else $\(SocketAddress.variable), else \(SocketAddress.systemPath)")
    static let root = Option("--root", value: "DIR", kinds: [.folder], "the daemon that runs as `pipelined --root DIR`")
    static let instance = Option(
        "--instance", short: "-i", value: "NAME", "the daemon that runs as pipelined@NAME, one of several on a machine")
    static let help = Option("--help", short: "-h", "show help for the verb")
    static let version = Option("--version", "print the versions of pipectl and of the daemon")

    static let everywhere = [json, color, socket, root, instance, help, version]
}
