import Glibc
import PipelineControl

extension Verb {
    static let complete = Verb(
        name: "complete",
        summary: "complete a command line, for the shells",
        usage: "[-- WORD…]",
        discussion: [
            "The words are the ones after `pipectl`; the last is the one to complete, and may be empty. Each line is a word",
            "that it could become, a tab, and a description; `:files` and `:folders` stand for names that the shell",
            "knows. Jobs, batches, recipes, queues and stages come from the daemon; if it does not answer within a",
            "second, there are none.",
        ],
        arguments: [Argument("WORD", count: 0...Int.max, "a word of the command line, after --")],
        examples: [
            Example("pipectl complete -- con", "the verbs that begin with con"),
            Example("pipectl complete -- retry ''", "the jobs that can be retried"),
        ],
        run: { context in
            // The user has pressed Tab and waits. If the daemon does not answer within a second, the program exits
            // without candidates.
            signal(SIGALRM) { _ in _exit(ExitCode.done.rawValue) }
            alarm(1)
            let draft = CommandDraft(context.invocation.arguments)
            let address = SocketAddress(
                socket: draft.options[Option.socket.name].map(expanded) ?? context.invocation.value(.socket),
                root: draft.options[Option.root.name].map(expanded) ?? context.invocation.value(.root),
                instance: draft.options[Option.instance.name] ?? context.invocation.value(.instance),
                variable: getenv(SocketAddress.variable).map { String(cString: $0) })
            for candidate in Completion(draft, LiveWords(address: address)).candidates {
                if context.json {
                    try context.output.object(candidate)
                } else {
                    try context.output.line(candidate.line)
                }
            }
            return .done
        })

    /// Expands `~/` as the shell would.
    private static func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
        return String(cString: home) + path.dropFirst()
    }
}
