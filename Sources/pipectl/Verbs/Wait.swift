import PipelineControl

extension Option {
    fileprivate static let all = Option(
        "--all", short: "-a", "until nothing is left to do: settling, waiting, queued or running; the same as no ID")
    fileprivate static let batch = Option(
        "--batch", value: "N|NAME", kinds: [.batch], "until this batch has ended, by its number or its name")
}

extension Verb {
    static let wait = Verb(
        name: "wait",
        summary: "wait for jobs, printing each as it ends",
        usage: "[ID…|--all|--batch N|NAME] [--timeout TIME]",
        discussion: [
            "Prints a job when nothing is left to do for it: its results are in the outbox, and its original",
            "is in archive/, failed/ or cancelled/. If something prevents that, such as a disk that is full or",
            "does not answer, standard error says so.",
            "On a terminal, shows the unfinished jobs below, as `pipectl watch` does.",
            "When no job has ended for a while, prints the reasons. Ctrl-C ends the waiting but not the jobs, and",
            "says how to wait for them again. Exits with 1 if one of them failed or was cancelled.",
        ],
        arguments: [Argument("ID", count: 0...Int.max, kinds: [.unfinishedJob], "a job's number")],
        options: [.all, .batch, .timeout],
        examples: [
            Example("pipectl wait", "until nothing is left to do"),
            Example("pipectl wait --batch lucerne", "until all pictures of a folder are done"),
            Example("pipectl wait 12 13 --json | jq -r '.outputs[]'", "the results of two jobs"),
        ],
        run: { context in
            let ids = try context.invocation.ids()
            if context.invocation.has(.all), !ids.isEmpty {
                throw Failure.usage("--all and IDs exclude each other")
            }
            if context.invocation.has(.batch), context.invocation.has(.all) || !ids.isEmpty {
                throw Failure.usage("--batch can't be combined with --all or IDs")
            }
            return try context.waitFor(ids, batch: context.batch(.batch))
        })
}

extension Context {
    /// Prints the jobs as they end. Without IDs, waits for all jobs of `batch`, or for all jobs if `batch` is nil. With
    /// IDs, `batch` is the batch that contains all these jobs; nil if there is no such batch.
    func waitFor(_ ids: [Int], batch: Int? = nil) throws -> ExitCode {
        var waiting = try Waiting(context: self, ids: ids, batch: batch)
        return try waiting.run()
    }

    func print(_ job: Control.Job) throws {
        if json {
            try output.object(job)
        } else {
            try output.line(job.line)
        }
    }
}
