import PipelineControl

extension Option {
    static let after = Option(
        "--after", value: "ID…", takesIDs: true, kinds: [.unfinishedJob],
        "start after these jobs are done; separate several with spaces or commas")
    static let anyway = Option("--anyway", "start even if one of them has failed or was cancelled")
    fileprivate static let remove = Option(
        "--remove", value: "ID…", takesIDs: true, kinds: [.unfinishedJob], "no longer come after these jobs")
}

extension Verb {
    static let depend = Verb(
        name: "depend",
        summary: "make a job wait for others",
        usage: "ID [--after ID…] [--remove ID…] [--anyway]",
        discussion: [
            "A job that has not begun waits until the others are done. When one of them fails or is cancelled, the job",
            "fails with that reason, unless --anyway is given; `pipectl retry` checks the others again. The jobs may",
            "be of any batch and any recipe. A cycle is refused. `pipectl show` lists the jobs before and after a job.",
        ],
        arguments: [Argument("ID", kinds: [.jobToBegin], "the job's number")],
        options: [.after, .remove, .anyway],
        examples: [
            Example("pipectl depend 12 --after 10 11", "start after these two are done"),
            Example("pipectl depend 12 --remove 11", "no longer wait for job 11"),
            Example("pipectl depend 12 --anyway", "start even if they fail"),
        ],
        run: { context in
            let invocation = context.invocation
            guard let id = try invocation.ids().first else { return .usage }
            let call = Call.Depend(
                id: id, after: try invocation.ids(.after), remove: try invocation.ids(.remove),
                anyway: invocation.has(.anyway))
            guard !call.after.isEmpty || !call.remove.isEmpty || call.anyway else {
                throw Failure.usage("depend needs --after, --remove or --anyway\n`pipectl help depend` says more")
            }
            try context.print(context.call(call).job)
            return .done
        })
}
