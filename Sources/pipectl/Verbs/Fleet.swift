import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let fleetTarget = Option(
        "--to", value: "DIR", kinds: [.folder], "with init: write into DIR, a new folder; default: ./fleet")
    static let memberTime = Option(
        "--for", value: "TIME", "with add: the servers admit the nodes for this long, like 12h or 30d; default: forever"
    )
    fileprivate static let fleetFolder = Option(
        "--in", value: "DIR", kinds: [.folder], "with add and remove: the folder that init wrote; default: ./fleet")
}

extension Verb {
    static let fleet = Verb(
        name: "fleet",
        summary: "the machines that share the work: test, make, join and leave a fleet",
        usage:
            "[check [NODE] | init SERVERS NODES [--to DIR] | join FILE | leave | add NODES [--for TIME] [--in DIR] | "
            + "remove NODE [--in DIR]]",
        discussion: [
            "Without a word, shows the same as `pipectl status --fleet`.",
            "`check` lends a small picture to each other machine, whatever Give= allows, and says how long it took,",
            "or what to do. It ends within a minute. It fails if a machine fails, or if there is no other machine. No job is",
            "made.",
            "`init` makes a fleet, and needs no daemon: an authority, a folder for each NATS server with certificate",
            "and install.sh, and a file NODE.join for each node. Several servers are a cluster. openssl",
            "makes keys and certificates. Keep authority.key safe and secret: anyone who has it can join.",
            "`join` is for a node: it writes what FILE says into the daemon's configuration, has the daemon try it,",
            "and reloads. It leaves no files behind if the daemon can't use them. It fails if no server is reached within five",
            "seconds, but the daemon keeps trying. FILE contains a key: remove it afterwards.",
            "`leave` removes what `join` has written, and reloads. Lent pictures are rendered here.",
            "`add` writes the files of more nodes; nothing changes on the servers. With --for TIME, a node is admitted",
            "only that long. `remove` removes a node: it rewrites the folder of each server, and takes effect when the folder",
            "has been copied there, and its install.sh has run.",
        ],
        arguments: [
            Argument(
                "check|init|join|leave|add|remove", count: 0...1, kinds: [.oneOf(FleetWord.all)],
                "test the others; make, join or leave a fleet; add or remove a node"),
            Argument(
                "NODE", count: 0...1, kinds: [.node], behind: ["check"],
                "that machine only; separate several with commas"),
            Argument(
                "SERVERS", count: 0...1, behind: ["init"],
                "hosts or addresses with commas; add a port other than 4222: a,b:4223,c"),
            Argument(
                "NODES", count: 0...1, behind: ["init", "add"],
                "names of small letters, digits and hyphens, with commas"),
            Argument("FILE", count: 0...2, kinds: [.file], behind: ["join"], "the NODE.join that init or add wrote"),
            Argument("NODE", count: 0...1, behind: ["remove"], "the name of a node"),
        ],
        options: [.fleetTarget, .fleetFolder, .memberTime],
        examples: [
            Example("pipectl fleet", "the other machines, and what each has"),
            Example("pipectl fleet check", "whether each renders a picture of this machine"),
            Example("pipectl fleet init fleet.example.org darkroom,attic", "one server, two nodes, in ./fleet"),
            Example("pipectl fleet join darkroom.join", "on the node, with sudo if its settings are root's"),
            Example("pipectl fleet add cellar", "one more node, later"),
            Example("pipectl fleet add rented-1,rented-2 --for 2d", "two nodes for two days"),
        ],
        run: { context in
            let words = context.invocation.arguments
            switch try form(words, context) {
            case nil: return try showFleet(context)
            case .check: return try checkFleet(words.dropFirst().first, context)
            case .`init`: try beginFleet(servers: words[1], nodes: words[2], folder(.fleetTarget, context), context)
            case .join: return try joinFleet(words[1], context)
            case .leave: return try leaveFleet(context)
            case .add: try addNodes(words[1], folder(.fleetFolder, context), context)
            case .remove: try removeNode(words[1], folder(.fleetFolder, context), context)
            }
            return .done
        })

    private static func folder(_ option: Option, _ context: Context) -> FleetFolder {
        FleetFolder(context.invocation.value(option) ?? FleetFolder.usual)
    }

    /// Parses the words after `fleet`. Throws for missing or extra words, and for options that don't belong to the
    /// word.
    private static func form(_ words: [String], _ context: Context) throws(Failure) -> FleetWord? {
        let options = [Option.fleetTarget, .fleetFolder, .memberTime].filter(context.invocation.has)
        guard let first = words.first else {
            guard let option = options.first else { return nil }
            throw .usage("\(option.name) needs a word before it\n\(fleet.usageLine)")
        }
        guard let word = FleetWord(rawValue: first) else {
            throw .usage("unexpected '\(first)'\(didYouMean(first, among: FleetWord.all))\n\(fleet.usageLine)")
        }
        let most = word.wanted.count + (word.optional == nil ? 0 : 1)
        guard (word.wanted.count...most).contains(words.count - 1) else {
            let wanted = word.wanted.isEmpty ? "no further word" : word.wanted.joined(separator: " and ")
            throw .usage("\(first) needs \(wanted): pipectl fleet \(word.form)")
        }
        if let option = options.first(where: { option in !word.options.contains { $0.name == option.name } }) {
            throw .usage("\(option.name) is not for \(first): pipectl fleet \(word.form)")
        }
        return word
    }
}

private enum FleetWord: String, CaseIterable {
    case check, `init`, join, leave, add, remove

    static let all = allCases.map(\.rawValue)

    /// The words that must follow this word.
    var wanted: [String] {
        switch self {
        case .`init`: ["SERVERS", "NODES"]
        case .join: ["FILE"]
        case .check, .leave: []
        case .add: ["NODES"]
        case .remove: ["NODE"]
        }
    }

    var options: [Option] {
        switch self {
        case .`init`: [.fleetTarget]
        case .check, .join, .leave: []
        case .add: [.memberTime, .fleetFolder]
        case .remove: [.fleetFolder]
        }
    }

    /// The word that may follow this word.
    var optional: String? { self == .check ? "NODE" : nil }

    var form: String {
        let rest = (optional.map { [$0] } ?? []) + options.map(\.written)
        return ([rawValue] + wanted + rest.map { "[\($0)]" }).joined(separator: " ")
    }
}
