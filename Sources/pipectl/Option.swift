/// A word that begins with dashes. With `value` it takes one, written `--name VALUE` or `--name=VALUE`.
struct Option: Sendable {
    /// With its dashes.
    let name: String
    let value: String?
    /// The words that follow are its values, too, as long as they are jobs' IDs.
    let takesIDs: Bool
    let help: String

    init(_ name: String, value: String? = nil, takesIDs: Bool = false, _ help: String) {
        self.name = name
        self.value = value
        self.takesIDs = takesIDs
        self.help = help
    }

    var written: String { value.map { "\(name) \($0)" } ?? name }
}

/// The options that every verb understands, anywhere on the line.
extension Option {
    static let json = Option("--json", "print JSON: names are stable, errors too come as JSON")
    static let color = Option(
        "--color", value: "WHEN", "colour: auto (a terminal, and NO_COLOR is not set), always or never")
    static let socket = Option(
        "--socket", value: "PATH",
        "the daemon's socket; else $\(SocketAddress.variable), else \(SocketAddress.systemPath)")
    static let root = Option("--root", value: "DIR", "the daemon that runs as `pipelined --root DIR`")
    static let help = Option("--help", "say what the verb does")
    static let version = Option("--version", "print the versions of pipectl and of the daemon")

    static let everywhere = [json, color, socket, root, help, version]
}
