import Glibc
import PipelineControl
import SystemCalls

extension Option {
    fileprivate static let chain = Option(
        "--chain", value: "CHAIN", kinds: [.chain], "use this chain for the file, not a recipe")
}

extension Verb {
    static let explain = Verb(
        name: "explain",
        summary: "what would happen to a file or a chain, and why it is not running",
        usage: "FILE [--chain CHAIN [--raw KIND]]|CHAIN",
        discussion: [
            "An argument that exists, has a slash or looks like a file's name is a file; any other is a chain. A missing",
            "file is an error. A file in `failed/`, `archive/` or `cancelled/`, or its text, is shown with its job.",
            "If you may read the file, a worker reads its header, and finds how the pixels would be read: at which fraction",
            "of the size, whether only luma, and how many outputs share one reading.",
        ],
        arguments: [Argument("FILE|CHAIN", kinds: [.file, .chain], "a file's path, or a chain in quotes")],
        options: [.chain, .raw],
        examples: [
            Example(
                "pipectl explain inbox/harbour.jpg",
                "its recipe and operations, how it is read, what it waits for"),
            Example("pipectl explain a.cr2 --chain noir", "how a chain would read it"),
            Example("pipectl explain 'resize scale=0.5 | noir'", "the operations that the planner would make"),
        ],
        run: { context in
            let invocation = context.invocation
            guard let subject = invocation.arguments.first else { return .usage }
            try context.checkRaw(beside: .chain)
            if let id = Invocation.id(subject), !isFile(subject) {
                throw Failure.usage(
                    "'\(subject)' is neither a file nor a chain; `pipectl show \(id)` shows the story of job \(id)")
            }
            let chain = invocation.value(.chain)
            guard isFile(subject) || chain == nil else {
                throw Failure.usage("--chain needs a file, but '\(subject)' is not a file")
            }
            let explanation = try context.call(
                isFile(subject)
                    ? Call.Explain(file: try absolute(subject), chain: chain, raw: invocation.value(.raw))
                    : Call.Explain(chain: subject),
                descriptors: opened(subject)
            ).explanation
            if context.json {
                try context.output.document(explanation)
            } else {
                try context.output.lines(lines(explanation, width: context.output.columns))
            }
            return .done
        })

    private static func isFile(_ subject: String) -> Bool {
        if access(subject, F_OK) == 0 { return true }
        if subject.contains(where: { $0 == "|" || $0 == "=" }) { return false }
        return subject.contains { $0 == "/" || $0 == "." }
    }

    /// Opens the file, if it can be read, so that a worker can read its header.
    private static func opened(_ subject: String) -> [Descriptor] {
        guard isFile(subject), let file = try? Descriptor.open(subject, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG
        else { return [] }
        return [file]
    }

    /// Makes the path absolute, because the daemon has a different working folder.
    private static func absolute(_ path: String) throws(Failure) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else {
            throw Failure("CannotRead", "the working folder is gone: give the file's whole path", .failed)
        }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    private static func lines(_ explanation: Control.Explanation, width: Int?) -> [Text] {
        var lines: [Text] = []
        if let recipe = explanation.recipe { lines.append("recipe \(recipe, .strong)") }
        if !explanation.why.isEmpty { lines.append(Text(explanation.why)) }
        if let job = explanation.job { lines.append("job \(job.line)") }
        for (name, chain) in explanation.chains.sorted(by: { $0.key < $1.key }) {
            lines.append(name.isEmpty ? "chain: \(chain)" : "chain \(name): \(chain)")
        }
        if let picture = explanation.picture { lines.append("picture: \(picture)") }
        for decoding in explanation.decode {
            let output = decoding.output.map { " \($0)" } ?? ""
            lines.append(
                decoding.unwanted.map { "no result\(output): \($0)" } ?? "decode\(output): \(decoding.path)")
        }
        for name in explanation.names {
            lines.append("result\(name.output.map { " \($0)" } ?? ""): \(name.name)")
        }
        if let date = explanation.date { lines.append("date: \(date)") }
        if let problem = explanation.problem { lines.append("its header is not known: \(problem)") }
        guard !explanation.operations.isEmpty else { return lines }
        var table = Table([
            .init(title: "", right: true), .init(title: "OPERATION"), .init(title: "DOES", fit: .words),
        ])
        for (index, operation) in explanation.operations.enumerated() {
            table.add("\(index + 1)", Text(operation.kind), Text(operation.does))
        }
        return lines + [""] + table.lines(width: width)
    }
}
