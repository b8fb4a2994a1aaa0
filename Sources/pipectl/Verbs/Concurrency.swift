import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let save = Option("--save", "keep the limit after a restart of the daemon")
}

extension Verb {
    private static let limits = 0...1024

    static let concurrency = Verb(
        name: "concurrency",
        summary: "show or change how many operations may run at once",
        usage: "[N|auto | QUEUE N|auto] [--save] [--node NODE | --fleet]",
        discussion: [
            "Without a limit, shows the configured limits, their values, and how many operations run. A limit alone is",
            "for `render`. A limit is a number from \(limits.lowerBound) to \(limits.upperBound), or auto: for renders the number of CPUs",
            "that the daemon may use, for downloads and publishing a fixed number, shown below the table.",
            "With 0, running operations finish, and nothing starts. Without --save a change lasts until the daemon restarts.",
        ],
        arguments: [
            Argument("QUEUE", count: 0...1, kinds: [.queue], "the queue; default: render"),
            Argument("N|auto", count: 0...1, kinds: [.oneOf(["auto"])], "the limit"),
        ],
        options: [.save, .node, .wholeFleet],
        examples: [
            Example("pipectl concurrency", "show the limits"),
            Example("pipectl concurrency 2", "two pictures at once"),
            Example("pipectl concurrency publish 8 --save", "another queue, permanently"),
            Example("pipectl concurrency 4 --node attic", "on another machine of the fleet"),
        ],
        run: { context in
            let words = context.invocation.arguments
            let save = context.invocation.has(.save)
            let nodes = try ChosenNodes(context.invocation)
            guard let limit = words.last else {
                if save { throw Failure.usage("--save needs a limit to save: `pipectl concurrency N --save`") }
                if let nodes { return try nodes.command("concurrency", context) }
                return try context.print(limits: context.call(Call.Concurrency()).queues)
            }
            guard limit == "auto" || Int(limit).map(limits.contains) == true else {
                throw Failure("BadValue", noLimit(limit), .usage)
            }
            let queue = words.count > 1 ? words[0] : "render"
            if let nodes { return try nodes.command("concurrency", queue: queue, limit: limit, save: save, context) }
            return try context.print(
                limits: context.call(Call.Concurrency(queue: queue, limit: limit, save: save)).queues)
        })
}

extension Verb {
    private static func noLimit(_ word: String) -> String {
        let queues = ["download", "render", "publish"]
        if queues.contains(word) {
            return "\(word) is a queue, and needs a limit after it: pipectl concurrency \(word) 4"
        }
        let range = "a number from \(limits.lowerBound) to \(limits.upperBound), or auto"
        return "'\(word)' is not a limit: it is \(range)\(didYouMean(word, among: queues + ["auto"]))"
    }
}

extension Context {
    /// Prints the limits, and below them the numbers that `auto` stands for, if the daemon reports them.
    fileprivate func print(limits queues: [String: Control.Queue]) throws -> ExitCode {
        let code = try print(queues)
        let parts = ["download", "render", "publish"].compactMap { name in
            queues[name]?.automatic.map { count in
                "\(name) \(count)" + (name == "render" ? " (the CPUs that the daemon may use)" : "")
            }
        }
        if !json, !parts.isEmpty { try output.line(Text("auto means: \(parts.joined(separator: ", "))", .faint)) }
        return code
    }

    func print(_ queues: [String: Control.Queue]) throws -> ExitCode {
        if json {
            try output.document(["queues": queues])
        } else {
            try output.lines(queues.lines(width: output.columns))
        }
        return .done
    }
}
