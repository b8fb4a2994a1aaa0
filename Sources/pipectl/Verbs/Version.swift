import PipelineControl
import SystemCalls

extension Verb {
    static let version = Verb(
        name: "version",
        summary: "the versions of pipectl and of the daemon",
        discussion: ["It is not an error if the daemon does not answer."],
        run: { context in
            let daemon = try? context.call(Call.Status()).status.version
            if context.json {
                try context.output.document(Versions(daemon: daemon))
            } else {
                try context.output.line("pipectl \(Release.version)")
                try context.output.line("pipelined \(daemon ?? "does not answer at \(context.address.path)")")
            }
            return .done
        })
}

private struct Versions: Encodable {
    var pipectl = Release.version
    @Omissible var pipelined: String?

    init(daemon: String?) {
        pipelined = daemon
    }
}
