import Dispatch
import PipelineControl
import PipelineModel
import SystemCalls
import WorkerProtocol

extension ControlService {
    func addConfigurationCalls() {
        onSupervisor(Call.Recipes.self) { [supervisor] _, request in
            request.reply(Call.Recipes.Reply(recipes: supervisor.shownRecipes()))
        }
        onSupervisor(Call.Plugins.self) { [supervisor] _, request in
            let current = supervisor.current
            request.reply(
                Call.Plugins.Reply(
                    stages: current.catalog.stages.map(supervisor.shown),
                    skipped: current.skipped.map { Control.SkippedPlugin(file: $0.file, reason: $0.reason) }))
        }
        onSupervisor(Call.Settings.self) { [supervisor] _, request in
            request.reply(Call.Settings.Reply(settings: supervisor.shownSettings()))
        }
        on(Call.Explain.self) { [supervisor] call, request in
            // A file is looked for where a mount may hang.
            supervisor.files.async {
                let isPresent = call.file.map(FileSystem.exists) ?? false
                supervisor.queue.async {
                    do {
                        let explanation = try supervisor.explain(call, isPresent: isPresent)
                        request.reply(Call.Explain.Reply(explanation: explanation))
                    } catch {
                        request.fail(error)
                    }
                }
            }
        }
        onSupervisor(Call.Reload.self) { [supervisor] _, request in
            Log.notice("reload asked for by \(request.connection.peer)")
            supervisor.reload { problems in
                request.reply(
                    Call.Reload.Reply(
                        problems: problems.map { Control.Problem(file: $0.file, line: $0.line, message: $0.message) }))
            }
        }
    }
}

extension Supervisor {
    func shownRecipes() -> [Control.Recipe] {
        current.configuration.recipes.map { recipe in
            let order = current.order(for: recipe, places)
            let report = inboxes.first { $0.recipe.name == recipe.name }?.report
            return Control.Recipe(
                name: recipe.name, description: recipe.description, file: recipe.file, inbox: order.inbox,
                outbox: order.outbox, match: recipe.match, original: recipe.original.rawValue,
                conflict: recipe.conflict.rawValue, onTruncated: recipe.onTruncated.rawValue,
                priority: recipe.priority.rawValue, chains: order.chains, problem: report?.whyNothing,
                hook: recipe.hook, hookFailures: hooks.report(of: recipe.name).failures)
        }
    }

    func shownSettings() -> [Control.Setting] {
        settings.rows.map { row in
            var (value, source) = (row.value, row.source)
            if row.section == "Queues", let live = liveLimits[row.key.lowercased()] {
                (value, source) = ("\(live)", savedLimits.contains(row.key.lowercased()) ? places.saved : "pipectl")
            }
            return Control.Setting(
                section: row.section, key: row.key, value: value, default: row.default, source: source, help: row.help)
        }
    }

    /// Which recipe would take a file, what would be done, and why it is not being done.
    func explain(_ call: Call.Explain, isPresent present: Bool) throws(ControlError) -> Control.Explanation {
        if let text = call.chain {
            let order = current.order(for: try parse(text), places)
            return explanation(nil, order, "the chain is right; `pipectl add --chain` runs it", nil)
        }
        guard let file = call.file else { throw .badValue("Explain takes a file or a chain") }
        let name = FileSystem.name(of: file)
        if let inbox = inboxes.filter({ FileSystem.lies(file, within: $0.folder) })
            .max(by: { $0.folder.count < $1.folder.count })
        {
            let path = FileSystem.relative(file, to: inbox.folder)
            let order = current.order(for: inbox.recipe, places)
            let record = try? ledger.newest(path: path)
            if FileNames.isPartial(name) {
                return explanation(nil, order, "hidden and partial files are left alone until they are renamed", nil)
            }
            if !inbox.recipe.matches(name) {
                let byName = FileNames.reasonForIgnoring(name, recipe: inbox.recipe.name)
                return explanation(nil, order, inbox.reason(for: file) ?? byName, nil)
            }
            if let reason = inbox.reason(for: file) { return explanation(inbox.recipe, order, reason, nil) }
            let why =
                if let problem = inbox.report.whyNothing { "its inbox waits: \(problem)" } else if present {
                    "it is settling: it is taken when it has been quiet for \(inbox.recipe.intake.settle.text)"
                } else if let record { "it is job \(record.id), which is \(shown(record).state)" } else {
                    "it would be taken when it is put there"
                }
            return explanation(inbox.recipe, order, why, present ? nil : record.map(shown))
        }
        if let record = try? ledger.newest(path: name) {
            return explanation(
                current.recipe(record.order.recipe), record.order,
                "it is job \(record.id), which is \(shown(record).state)" + (record.error.map { ": \($0)" } ?? ""),
                shown(record))
        }
        let recipe = current.configuration.defaultRecipe
        let why =
            recipe.matches(name)
            ? "it lies in no inbox; dropped into \(places.inbox), or given to `pipectl add`, it goes through '\(recipe.name)'"
            : "it lies in no inbox; " + FileNames.reasonForIgnoring(name, recipe: recipe.name)
        return explanation(recipe, current.order(for: recipe, places), why, nil)
    }

    private func explanation(
        _ recipe: Recipe?, _ order: WorkOrder, _ why: String, _ job: Control.Job?
    ) -> Control.Explanation {
        Control.Explanation(
            recipe: recipe?.name, why: why, chains: order.chains,
            operations: Planner.plan(outputs: order.outputs, inBatch: job.map { $0.batch != nil } ?? true).operations
                .map {
                    Control.PlannedOperation(kind: $0.kind, queue: $0.queue, does: $0.does(current.catalog))
                }, job: job)
    }
}

extension Supervisor {
    fileprivate func shown(_ stage: StageDescription) -> Control.Stage {
        var (state, reason) = (stage.file == nil ? "built in" : "loaded", nil as String?)
        if let shortage = shortages[.filter(stage.name)] {
            (state, reason) = ("waiting", shortage.reason)
        } else if let newer = current.skipped.first(where: { $0.file == stage.file }) {
            (state, reason) = ("older", newer.reason)
        }
        return Control.Stage(
            name: stage.name, summary: stage.summary, version: stage.version, author: stage.author, file: stage.file,
            state: state, reason: reason, traits: stage.traits.map(\.rawValue).sorted(),
            parameters: stage.parameters.map {
                Control.Parameter(
                    name: $0.name, type: $0.type.rawValue, minimum: $0.minimum, maximum: $0.maximum,
                    default: $0.defaultValue, required: $0.isRequired, choices: $0.choices, unit: $0.unit, help: $0.help
                )
            })
    }
}
