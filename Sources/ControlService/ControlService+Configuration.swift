import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import WorkerProtocol

extension ControlService {
    func addConfigurationCalls() {
        onOwners(Call.Recipes.self) { [self] _, request in
            request.reply(Call.Recipes.Reply(recipes: shownRecipes(), folder: daemon.ownFolders.recipes))
        }
        onOwners(Call.Plugins.self) { [self] _, request in
            request.reply(
                Call.Plugins.Reply(
                    stages: daemon.catalog.stages.map(shown), skipped: daemon.skippedPlugins.map(\.shown)))
        }
        onOwners(Call.Settings.self) { [self] _, request in
            request.reply(Call.Settings.Reply(settings: shownSettings()))
        }
        onOwners(Call.SaveRecipe.self) { [self] call, request in
            let recipe = OwnRecipe(
                name: call.name, description: call.description,
                outputs: call.outputs.map { OwnRecipe.Output(name: $0.name, chain: $0.chain, naming: $0.naming) })
            daemon.save(recipe) { answer in
                Self.answer(answer, request, "saved", call.name) { Call.SaveRecipe.Reply(problems: $0) }
            }
        }
        onOwners(Call.RemoveRecipe.self) { [self] call, request in
            daemon.remove(recipe: call.name) { answer in
                Self.answer(answer, request, "removed", call.name) { Call.RemoveRecipe.Reply(problems: $0) }
            }
        }
        onOwners(Call.Reload.self) { [self] call, request in
            let isTrial = call.check == true
            Log.notice("\(isTrial ? "trial of a reload" : "reload") asked for by \(request.connection.peer)")
            daemon.reload(asTrial: isTrial) { reloaded in
                request.reply(
                    Call.Reload.Reply(
                        problems: reloaded.problems.map(\.shown), skipped: reloaded.skipped.map(\.shown),
                        hooks: reloaded.hooks.map(\.shown)))
            }
        }
    }
}

extension ControlService {
    private static func answer(
        _ answer: Result<[Problem], CommandRefusal>, _ request: ControlRequest, _ change: String, _ recipe: String,
        _ reply: ([Control.Problem]) -> some Codable & Sendable
    ) {
        switch answer {
        case .success(let problems):
            if problems.isEmpty { Log.notice("recipe '\(recipe)' \(change) by \(request.connection.peer)") }
            request.reply(reply(problems.map(\.shown)))
        case .failure(let refusal): request.fail(ControlError(refusal))
        }
    }
}

extension Problem {
    fileprivate var shown: Control.Problem { Control.Problem(file: file, line: line, message: message) }
}

extension SkippedPlugin {
    fileprivate var shown: Control.SkippedPlugin { Control.SkippedPlugin(file: file, reason: reason) }
}

@Coordination
extension ControlService {
    func shownRecipes() -> [Control.Recipe] {
        let standard = daemon.configurationInForce.defaultRecipe.name
        return daemon.recipeReports().map { recipe, order, problem, hookFailures in
            Control.Recipe(
                name: recipe.name, description: recipe.description, file: recipe.file, inbox: order.inbox,
                outbox: order.outbox, match: recipe.match, original: recipe.original.rawValue,
                conflict: recipe.conflict.rawValue, onTruncated: recipe.onTruncated.rawValue,
                priority: recipe.priority.rawValue, chains: order.chains,
                problem: problem, hook: recipe.hook,
                hookOn: HookOccasion.allCases.filter(recipe.hookOn.contains).map(\.rawValue),
                hookFailures: hookFailures,
                names: recipe.outputs.compactMap { output in
                    output.naming.map { Control.ResultName(output: output.name, name: $0.text) }
                }, raw: recipe.raw.rawValue, fleet: recipe.fleet.rawValue, share: recipe.share,
                own: recipe.file?.hasPrefix(daemon.ownFolders.ownRecipes + "/") == true,
                hours: recipe.hours?.text,
                conditions: Dictionary(
                    recipe.outputs.compactMap { output in output.condition.map { (output.name ?? "", $0.text) } },
                    uniquingKeysWith: { first, _ in first }), isDefault: recipe.name == standard)
        }
    }

    func shownSettings() -> [Control.Setting] {
        daemon.settingRows().map { row in
            Control.Setting(
                section: row.section, key: row.key, value: row.value, default: row.default, source: row.source,
                help: row.help)
        }
    }

    private func shown(_ stage: StageDescription) -> Control.Stage {
        var (state, reason) = (stage.file == nil ? "built in" : "loaded", nil as String?)
        if let shortage = daemon.shortage(ofFilter: stage.name) {
            (state, reason) = ("waiting", shortage)
        } else if let newer = daemon.skippedPlugins.first(where: { $0.file == stage.file }) {
            (state, reason) = ("older", newer.reason)
        }
        return Control.Stage(
            name: stage.name, summary: stage.summary, version: stage.version, author: stage.author, file: stage.file,
            state: state, reason: reason, traits: stage.traits.map(\.rawValue).sorted(),
            parameters: stage.parameters.map {
                Control.Parameter(
                    name: $0.name, type: $0.type.rawValue, minimum: $0.minimum, maximum: $0.maximum,
                    default: $0.defaultValue, required: $0.isRequired,
                    choices: $0.type == .file ? daemon.catalog.names(for: $0) : $0.choices, unit: $0.unit, help: $0.help
                )
            }, atLeastOneOf: stage.atLeastOneOf, atMostOneOf: stage.atMostOneOf)
    }
}
