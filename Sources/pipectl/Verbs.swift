import PipelineModel

extension Verb {
    /// The table of verbs, in the order of `pipectl help`. A new verb needs its own file, and an entry here.
    static let all: [Verb] = [
        status, list, batches, show, get, log, ignored, explain, `try`, add, wait, watch, cancel, cancelAll, retry,
        redo, undo, depend, priority, pause, resume, drain, concurrency, recipes, plugins, settings, metrics, gallery,
        fleet, reload, clean, forget, backup, version, complete, help,
    ]

    static func named(_ name: String) throws(Failure) -> Verb {
        if let verb = all.first(where: { $0.isCalled(name) }) { return verb }
        throw .usage(
            "unknown verb '\(name)'\(didYouMean(name, among: all.map(\.name)))\n`pipectl help` lists the verbs")
    }
}
