import ServiceProgram

/// The arguments of the command line.
struct Arguments {
    enum Task: Equatable { case run, check, giveBack, backup(String), settings, manual(Manual), help, version }

    enum Option: String, ProgramOption {
        static let program = "pipelined"

        case root = "--root"
        case instance = "--instance"
        case check = "--check"
        case giveBack = "--give-back"
        case backup = "--backup"
        case json = "--json"
        case settings = "--settings"
        case man = "--man"
        case version = "--version"
        case help = "--help"

        var value: String? {
            switch self {
            case .root, .backup: "DIR"
            case .instance: "NAME"
            case .man: "PAGE"
            case .check, .giveBack, .json, .settings, .version, .help: nil
            }
        }

        var help: String {
            switch self {
            case .root: "keep everything below DIR: inbox/, outbox/, etc/; needs no root rights; a build needs it"
            case .instance: "one of several daemons of the system; the names of its folders end in @NAME"
            case .check:
                "report all mistakes in the configuration, and exit; root checks as the daemon's user"
            case .giveBack:
                "return claimed pictures to their inboxes, before pipelined is removed"
            case .backup: "copy everything into DIR and check the copy, as `pipectl backup` does"
            case .json: "with --backup, print JSON"
            case .settings: "print an initial pipelined.conf: every setting is commented out, with its default"
            case .man:
                "print a manual page, for `man -l -`: \(Manual.allCases.map(\.rawValue).joined(separator: ", "))"
            case .version: "print the version"
            case .help: "print the help"
            }
        }
    }

    var task = Task.run
    var root: String?
    var instance: String?
    var inJSON = false

    init(_ words: some Sequence<String>) throws(UsageError) {
        for (option, value) in try Option.read(words) { try take(option, value) }
        if root != nil, instance != nil { throw Option.misuse("--root and --instance exclude each other") }
    }

    private mutating func take(_ option: Option, _ value: String) throws(UsageError) {
        switch option {
        case .root: root = value
        case .instance:
            // Accepts only the characters of systemd's instance names. `.` and `..` would lead to other folders.
            let isName = value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ":-_.\\".contains($0)) }
            guard isName, value != ".", value != ".." else {
                throw Option.misuse(
                    "'\(value)' can't be the name of an instance: it has letters, digits, and :-_. alone")
            }
            instance = value
        case .check: task = .check
        case .giveBack: task = .giveBack
        case .backup: task = .backup(value)
        case .json: inJSON = true
        case .settings: task = .settings
        case .man:
            guard let page = Manual(rawValue: value) else { throw Option.misuse("there is no page '\(value)'") }
            task = .manual(page)
        case .version: task = .version
        case .help: task = .help
        }
    }
}
