import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let recipe = Option("--recipe", value: "RECIPE", "go through this recipe, not the default one")
    fileprivate static let chain = Option("--chain", value: "CHAIN", "go through this chain, with no recipe")
    fileprivate static let wait = Option("--wait", "wait for the jobs, and print them as they end")
}

extension Verb {
    static let add = Verb(
        name: "add",
        summary: "hand pictures to the daemon, wherever they lie",
        usage: "FILE… [--recipe RECIPE | --chain CHAIN] [--wait]",
        discussion: [
            "pipectl opens the files itself, so the daemon needs no right to read them. They stay as they are:",
            "a copy has been taken when the job is printed. Several files make one batch.",
        ],
        arguments: [Argument("FILE", count: 1...Int.max, "a picture")],
        options: [.recipe, .chain, .wait],
        examples: [
            Example("pipectl add *.jpg --wait", "through the default recipe"),
            Example("pipectl add a.jpg --chain 'resize width=640 | save format=webp'", "a chain of its own"),
        ],
        run: { context in
            let invocation = context.invocation
            if invocation.has(.recipe), invocation.has(.chain) {
                throw Failure.usage("--recipe and --chain exclude each other: a recipe has chains of its own")
            }
            let files = invocation.arguments
            let batch = files.count > 1 ? try context.call(Call.NewBatch()).batch : nil
            var added: [Int] = []
            var code = ExitCode.done
            for file in files {
                do {
                    let job = try context.call(
                        Call.Add(
                            name: baseName(file), recipe: invocation.value(.recipe), chain: invocation.value(.chain),
                            batch: batch),
                        descriptors: [picture(file)]
                    ).job
                    added.append(job.id)
                    if !invocation.has(.wait) { try context.print(job) }
                } catch {
                    guard let failure = concerning(file, error) else { throw error }
                    try context.complain(failure)
                    code = .failed
                }
            }
            if let batch { _ = try context.call(Call.CloseBatch(batch: batch)) }
            guard invocation.has(.wait), !added.isEmpty else { return code }
            try context.output.flush()
            return try context.waitFor(added) == .done ? code : .failed
        })

    /// A failure of one file alone leaves the others their turn.
    private static func concerning(_ file: String, _ error: any Error) -> Failure? {
        switch error {
        case let failure as Failure where failure.name == "CannotRead": failure
        case ControlError.refused(let reason): Failure("Refused", "\(file): \(reason)", .failed)
        case ControlError.badValue(let reason): Failure("BadValue", "\(file): \(reason)", .failed)
        default: nil
        }
    }

    private static func picture(_ file: String) throws -> Descriptor {
        func cannot(_ why: String) -> Failure { Failure("CannotRead", "\(file): \(why)", .failed) }
        if file == "-" { throw cannot("standard input can't be added; save it as a file first") }
        do {
            // Non-blocking, for opening a named pipe would wait for its writer.
            let descriptor = try Descriptor.open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            switch try descriptor.status().st_mode & S_IFMT {
            case S_IFREG: return descriptor
            case S_IFDIR: throw cannot("is a folder; add its files: `pipectl add \(file)/*`")
            default: throw cannot("is not a regular file")
            }
        } catch let error as SystemError {
            throw cannot(error.reason)
        }
    }

    private static func baseName(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
