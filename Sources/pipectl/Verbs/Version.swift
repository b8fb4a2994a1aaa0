import PipelineControl

extension Verb {
    static let version = Verb(
        name: "version",
        summary: "the versions of pipectl and of the daemon",
        discussion: ["A daemon that does not answer is no error here."],
        run: { session in
            let daemon = try? session.call(Call.Status()).status.version
            if session.json {
                try session.output.document(Versions(daemon: daemon))
            } else {
                try session.output.line("pipectl \(Release.version)")
                try session.output.line("pipelined \(daemon ?? "does not answer at \(session.address.path)")")
            }
            return .done
        })
}

private struct Versions: Encodable {
    var pipectl = Release.version
    @Nullable var pipelined: String?

    init(daemon: String?) {
        pipelined = daemon
    }
}
