import Glibc

extension Verb {
    static let complete = Verb(
        name: "complete",
        summary: "what a command line could go on with, for the shells",
        usage: "[-- WORD…]",
        discussion: [
            "The words are those behind `pipectl`, the last of them the one that is being written, empty or not.",
            "Each line is a word that it could become, a tab, and what that is; `:files` and `:folders` stand for",
            "those that the shell knows. Jobs, batches, recipes, queues and stages are the daemon's; when none",
            "answers within a second, there are none.",
        ],
        arguments: [Argument("WORD", count: 0...Int.max, "a word of the command line, behind --")],
        examples: [
            Example("pipectl complete -- con", "the verbs that begin so"),
            Example("pipectl complete -- retry ''", "the jobs that can be brought back"),
        ],
        run: { context in
            // Whoever presses Tab waits for this.
            signal(SIGALRM) { _ in _exit(ExitCode.done.rawValue) }
            alarm(1)
            let draft = CommandDraft(context.invocation.arguments)
            let address = SocketAddress(
                socket: draft.options[Option.socket.name].map(expanded) ?? context.invocation.value(.socket),
                root: draft.options[Option.root.name].map(expanded) ?? context.invocation.value(.root),
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

    /// A path as the shell would read it.
    private static func expanded(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = getenv("HOME") else { return path }
        return String(cString: home) + path.dropFirst()
    }
}
