import Foundation
import PipelineModel
import WorkerProtocol

/// `pipelined --check`: reads what a start would read, touches nothing, and says all that is wrong.
enum Check {
    static func run(_ places: Places) throws -> Int32 {
        // Copies of plugins in a place of its own.
        let copies = FileManager.default.temporaryDirectory.appendingPathComponent("pipelined-check-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: copies) }
        let (_, hello, _) = try Daemon.startPool(
            with: PluginShelf(folder: copies, sources: places.plugins),
            within: LoadedConfiguration.settings(places).plugins.timeout)
        let (loaded, problems) = LoadedConfiguration.load(places, hello: hello)
        for problem in problems { Log.refusal("\(problem)") }
        for plugin in hello.skipped { Log.refusal("plugin \(plugin.file) is left out: \(plugin.reason)") }
        for hook in loaded.refusedHooks { Log.refusal(hook) }
        guard problems.isEmpty else { return ExitStatus.configuration.rawValue }
        let recipes = loaded.configuration.recipes
        let filters = hello.filters.map(\.name).sorted().joined(separator: ", ")
        let leftOut =
            switch hello.skipped.count {
            case 0: ""
            case 1: ", but for the plugin that is left out"
            case let count: ", but for the \(count) plugins that are left out"
            }
        print("The configuration is right\(leftOut): \(recipes.count) \(recipes.count == 1 ? "recipe" : "recipes")")
        for recipe in recipes {
            print("  \(recipe.name)  \(loaded.inbox(of: recipe, places)) → \(loaded.outbox(of: recipe, places))")
        }
        print("Filters: \(filters.isEmpty ? "none" : filters)")
        // A start goes on without the plugin; a check reports that something is wrong.
        return hello.skipped.isEmpty ? ExitStatus.done.rawValue : ExitStatus.configuration.rawValue
    }
}
