import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let recipe = Option(
        "--recipe", value: "RECIPE", kinds: [.recipe], "go through this recipe, not the default one")
    fileprivate static let chain = Option(
        "--chain", value: "CHAIN", kinds: [.chain], "go through this chain, with no recipe")
    fileprivate static let priority = Option(
        "--priority", value: "LEVEL", kinds: [.oneOf(Verb.levels)], "low, normal or high, not the recipe's")
    fileprivate static let wait = Option("--wait", short: "-w", "wait for the jobs, and print them as they end")
}

extension Verb {
    static let add = Verb(
        name: "add",
        summary: "hand pictures or URLs to the daemon",
        usage: "FILE|URL…|- [--recipe RECIPE | --chain CHAIN] [--after ID… [--anyway]] [--priority LEVEL] "
            + "[--wait [--timeout TIME]]",
        discussion: [
            "pipectl opens the files itself, so the daemon needs no right to read them. The files stay as they",
            "are: the daemon has a copy when the job is printed. The picture of an http or https URL is downloaded.",
            "- reads a list of URLs, one a line, from standard input; a file NAME.urls or NAME.url is such a list, too.",
            "Several pictures make one batch, whose number is printed. A line of a list that is no URL is a job that has",
            "failed; then the exit code is 1.",
        ],
        arguments: [Argument("FILE|URL", count: 1...Int.max, kinds: [.file], "a picture, a URL, a list of URLs")],
        options: [.recipe, .chain, .after, .anyway, .priority, .wait, .timeout],
        examples: [
            Example("pipectl add *.jpg --wait", "through the default recipe"),
            Example("pipectl add a.jpg --chain 'resize width=640 | save format=webp'", "a chain of its own"),
            Example("pipectl add b.jpg --after 12 13", "when these two jobs are done"),
            Example("pipectl add https://example.com/a.jpg", "download it first"),
            Example("pipectl add - < addresses", "every URL of a list"),
        ],
        run: { context in
            let invocation = context.invocation
            if invocation.has(.recipe), invocation.has(.chain) {
                throw Failure.usage("--recipe and --chain exclude each other: a recipe has chains of its own")
            }
            if invocation.has(.timeout), !invocation.has(.wait) { throw Failure.usage("--timeout wants --wait") }
            if let level = invocation.value(.priority) { try checkPriority(level) }
            let after = try invocation.ids(.after)
            if after.isEmpty, invocation.has(.anyway) {
                throw Failure.usage("--anyway speaks of the jobs of --after, and there are none")
            }
            let additions = Addition.all(invocation.arguments)
            let batch = additions.count > 1 ? try context.call(Call.NewBatch()).batch : nil
            var added = Added()
            var code = ExitCode.done
            for addition in additions {
                do {
                    added += try context.add(addition, to: batch)
                } catch {
                    guard let failure = concerning(addition.name, error) else { throw error }
                    try context.complain(failure)
                    code = .failed
                }
            }
            if let batch { _ = try context.call(Call.CloseBatch(batch: batch)) }
            if let batch = added.batch, !added.ids.isEmpty, !context.json {
                try context.output.line("batch \(batch): \(Amount.counted(added.ids.count, "job"))")
            }
            if added.hasFailed { code = .failed }
            guard invocation.has(.wait), !added.ids.isEmpty else { return code }
            try context.output.flush()
            return try context.waitFor(added.ids, batch: added.batch) == .done ? code : .failed
        })

    /// The failure of one file, after which the others go on.
    private static func concerning(_ file: String, _ error: any Error) -> Failure? {
        switch error {
        case let failure as Failure where failure.name == "CannotRead": failure
        case ControlError.refused(let reason): Failure("Refused", "\(file): \(reason)", .failed)
        case ControlError.badValue(let reason): Failure("BadValue", "\(file): \(reason)", .failed)
        default: nil
        }
    }
}

private struct Added {
    var ids: [Int] = []
    var batch: Int?
    /// Whether a job failed at once, as for a line that is no URL.
    var hasFailed = false

    static func += (all: inout Added, some: Added) {
        all.ids += some.ids
        all.batch = all.batch ?? some.batch
        all.hasFailed = all.hasFailed || some.hasFailed
    }
}

private enum Addition {
    case picture(String)
    case list(String)
    case urls([String])
    case standardInput

    /// All URLs of the command line are one list.
    static func all(_ arguments: [String]) -> [Addition] {
        let urls = arguments.filter(isURL)
        let files = arguments.filter { !isURL($0) }.map { argument -> Addition in
            if argument == "-" { return .standardInput }
            let name = argument.lowercased()
            return name.hasSuffix(".urls") || name.hasSuffix(".url") ? .list(argument) : .picture(argument)
        }
        return (urls.isEmpty ? [] : [.urls(urls)]) + files
    }

    /// A URL of another scheme, or one without a scheme. Messages do not repeat it, because it may have a password.
    private static func isForeign(_ argument: String) -> Bool {
        argument.contains("://") || (argument.contains(":") && argument.contains("@"))
    }

    private static func isURL(_ argument: String) -> Bool {
        ["http://", "https://"].contains { argument.lowercased().hasPrefix($0) }
    }

    var name: String {
        switch self {
        case .picture(let file), .list(let file): Self.isForeign(file) ? "what is no http or https URL" : file
        case .urls(let urls): urls.count == 1 ? "the URL" : "the URLs"
        case .standardInput: "standard input"
        }
    }

    /// Opens the file for the daemon to read.
    func opened() throws -> Descriptor {
        do {
            switch self {
            case .picture(let file), .list(let file): return try open(file)
            case .urls(let urls): return try Descriptor.memory(Array(urls.joined(separator: "\n").utf8))
            case .standardInput: return try Descriptor.memory(readAll())
            }
        } catch let error as SystemError {
            throw cannot(error.reason)
        }
    }

    private func cannot(_ why: String) -> Failure { Failure("CannotRead", "\(name): \(why)", .failed) }

    private func open(_ file: String) throws -> Descriptor {
        // Opening a named pipe would wait for its writer.
        let descriptor = try Descriptor.open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        switch try descriptor.status().st_mode & S_IFMT {
        case S_IFREG: return descriptor
        case S_IFDIR: throw cannot("is a folder; add its files: `pipectl add \(file)/*`")
        default: throw cannot("is not a regular file")
        }
    }

    private func readAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 65536)
        while true {
            let got = uninterrupted { read(STDIN_FILENO, &room, room.count) }
            guard got >= 0 else { throw SystemError("read", "standard input") }
            if got == 0 { return bytes }
            bytes += room.prefix(got)
        }
    }
}

extension Context {
    /// Adds pictures, and prints the jobs unless they are waited for.
    fileprivate func add(_ addition: Addition, to batch: Int?) throws -> Added {
        let (recipe, chain) = (invocation.value(.recipe), invocation.value(.chain))
        let after = try invocation.ids(.after)
        let anyway = invocation.has(.anyway) ? true : nil
        let priority = invocation.value(.priority)
        let isWaiting = invocation.has(.wait)
        let name = addition.name.split(separator: "/").last.map(String.init) ?? addition.name
        if case .picture = addition {
            let job = try call(
                Call.Add(
                    name: name, recipe: recipe, chain: chain, batch: batch, after: after.isEmpty ? nil : after,
                    anyway: anyway, priority: priority),
                descriptors: [addition.opened()]
            ).job
            if !isWaiting { try print(job) }
            return Added(ids: [job.id], batch: job.batch)
        }
        var listName: String?
        if case .list = addition { listName = name }
        let reply = try call(
            Call.AddList(
                name: listName, recipe: recipe, chain: chain, batch: batch, after: after.isEmpty ? nil : after,
                anyway: anyway, priority: priority),
            descriptors: [addition.opened()])
        var added = Added(ids: Array(reply.first...reply.last), batch: reply.batch)
        guard !isWaiting else { return added }
        try client().stream(Call.List(batch: reply.batch)) { page in
            for job in page.jobs where (reply.first...reply.last).contains(job.id) {
                if job.state == "failed" { added.hasFailed = true }
                try print(job)
            }
            return true
        }
        return added
    }
}
