import DaemonConfiguration
import Foundation
import JobFlow
import PictureFiles
import PipelineModel
import ServiceProgram
import WorkerPools
import WorkerProtocol

/// `pipelined --check`: reads everything that a start would read, changes nothing, and reports every problem.
enum Check {
    static func run(_ places: Places) throws -> Int32 {
        let user = try DaemonUser.become(places)
        // Copies plugins into a temporary folder, because a check changes nothing in the daemon's folder.
        let copies = FileManager.default.temporaryDirectory.appendingPathComponent("pipelined-check-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: copies) }
        let (_, hello, _) = try Daemon.startPool(
            with: PluginGenerations(folder: copies, sources: places.plugins),
            within: LoadedConfiguration.settings(places).plugins.timeout)
        let (loaded, problems) = LoadedConfiguration.load(places, hello: hello)
        for problem in problems { Log.refusal("\(problem)") }
        for plugin in hello.skipped { Log.refusal(plugin.sentence) }
        let refusedHooks = loaded.refusedHooks
        for hook in refusedHooks { Log.refusal("\(hook)") }
        let complaint = LedgerFile.complaint(places)
        if let complaint { Log.refusal(complaint) }
        guard problems.isEmpty else { return ExitStatus.configuration.rawValue }
        let recipes = loaded.configuration.recipes
        let filters = hello.filters.map(\.name).sorted().joined(separator: ", ")
        let exceptions = [
            exception(hello.skipped.count, "the plugin that is left out", "plugins that are left out"),
            exception(refusedHooks.count, "the hook that is not run", "hooks that are not run"),
        ].compactMap(\.self)
        let butFor = exceptions.isEmpty ? "" : ", but for " + exceptions.joined(separator: " and ")
        print("The configuration is right\(butFor): \(recipes.count) \(recipes.count == 1 ? "recipe" : "recipes")")
        for recipe in recipes {
            print("  \(recipe.name)  \(loaded.inbox(of: recipe, places)) → \(loaded.outbox(of: recipe, places))")
        }
        print("Filters: \(filters.isEmpty ? "none" : filters)")
        if let user { print("Files were checked as the user \(user).") }
        // A start would leave out a faulty plugin or hook and continue, but a check reports it as a failure.
        guard complaint == nil else { return ExitStatus.failed.rawValue }
        return exceptions.isEmpty ? ExitStatus.done.rawValue : ExitStatus.configuration.rawValue
    }

    private static func exception(_ count: Int, _ one: String, _ many: String) -> String? {
        count == 0 ? nil : count == 1 ? one : "the \(count) \(many)"
    }
}
