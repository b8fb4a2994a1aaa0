import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import Glibc
import PictureFiles
package import PipelineModel
import SystemCalls

/// Saves and removes the recipes that clients make. Each recipe has a file in the state folder. After each change, the
/// daemon reloads the configuration. If the reload fails, the daemon undoes the change.
@Coordination
package final class OwnRecipes {
    package typealias Answer = Result<[Problem], CommandRefusal>
    package typealias Done = @Coordination @Sendable (Answer) -> Void

    private let configuration: ConfigurationInForce
    private let reloads: Reloads
    nonisolated private let lane = FileLane(threads: 1)
    /// Changes that wait until the change in progress has ended.
    private var waiting: [(recipe: String, text: String?, done: Done)] = []
    private var isChanging = false

    /// Maximum number of recipes, including the administrator's.
    nonisolated private static let most = 1000

    init(_ configuration: ConfigurationInForce, _ reloads: Reloads) {
        (self.configuration, self.reloads) = (configuration, reloads)
    }

    /// Saves the recipe. Calls `done` with the problems that prevented the change. An empty list means that the recipe
    /// is in force.
    func save(_ recipe: OwnRecipe, _ done: @escaping Done) {
        do throws(Refusal) { change(recipe.name, to: try recipe.text(), done) } catch {
            done(.failure(.badValue("'\(recipe.name)' \(error.sentence)")))
        }
    }

    /// Removes the recipe. Its jobs continue with their work orders, and its inbox and outbox folders stay.
    func remove(_ recipe: String, _ done: @escaping Done) {
        do throws(Refusal) {
            try OwnRecipe.check(recipe)
            change(recipe, to: nil, done)
        } catch {
            done(.failure(.badValue("'\(recipe)' \(error.sentence)")))
        }
    }

    private func change(_ recipe: String, to text: String?, _ done: @escaping Done) {
        waiting.append((recipe, text, done))
        if !isChanging { changeNext() }
    }

    private func changeNext() {
        isChanging = !waiting.isEmpty
        guard isChanging else { return }
        let (recipe, text, done) = waiting.removeFirst()
        let answer: Done = { [self] answer in
            done(answer)
            changeNext()
        }
        let file = configuration.places.ownRecipe(recipe)
        let (current, catalog) = (configuration.now.configuration, configuration.now.catalog)
        if let other = current.file(of: recipe), other != file {
            return answer(.failure(.refused("the recipe '\(recipe)' is in \(other): change it there")))
        }
        if text != nil, recipe == current.defaultRecipe.name, current.file(of: recipe) == nil {
            let words = "'\(recipe)' is the recipe of everything that is dropped into inbox/: take another name"
            return answer(.failure(.refused(words)))
        }
        lane.async { [self] in
            // Checks the recipe before writing it, so that a crash never leaves a file with a mistake.
            let files = ConfigurationFiles(configuration.places)
            let others = files.recipes.filter { $0.name != file }
            guard text == nil || others.count < Self.most else {
                let words = "there are \(Self.most) recipes already: remove one"
                return Coordination.async { answer(.failure(.refused(words))) }
            }
            let draft = text.map { [ConfigurationText(name: file, text: $0)] } ?? []
            let problems = Configuration.load(settings: files.allSettings, recipes: others + draft, catalog: catalog)
                .problems.filter { $0.file == file }
            guard problems.isEmpty else { return Coordination.async { answer(.success(problems)) } }
            let before: [UInt8]?
            do throws(SystemError) {
                before = FileSystem.mayExist(file) ? try Self.read(file) : nil
                guard text != nil || before != nil else {
                    return Coordination.async {
                        answer(.failure(.badValue("there is no recipe '\(recipe)' that a client has saved")))
                    }
                }
                try Self.put(text.map { Array($0.utf8) }, at: file)
            } catch {
                return Coordination.async { answer(.failure(.refused("the recipe's file can't be changed: \(error)"))) }
            }
            reload { problems in
                guard !problems.isEmpty else { return answer(.success([])) }
                self.lane.async {
                    do throws(SystemError) { try Self.put(before, at: file) } catch {
                        let words = "the recipe is not in force, and its file can't be put back: \(error)"
                        return Coordination.async { answer(.failure(.refused(words))) }
                    }
                    self.reload { _ in answer(.success(problems)) }
                }
            }
        }
    }

    nonisolated private func reload(_ done: @escaping @Coordination @Sendable ([Problem]) -> Void) {
        Coordination.async { self.reloads.reload { done($0.problems) } }
    }

    nonisolated private static func read(_ file: String) throws(SystemError) -> [UInt8] {
        try FileSystem.read(try Descriptor.open(file, O_RDONLY | O_NOFOLLOW), most: .max, called: file)
    }

    nonisolated private static func put(_ bytes: [UInt8]?, at file: String) throws(SystemError) {
        guard let bytes else { return try FileSystem.remove(file) }
        try FileSystem.makeFolders(FileSystem.folder(of: file))
        try FileSystem.write(bytes, to: file)
    }
}

extension Configuration {
    /// Returns the file of the recipe with this name. The recipe may be in force or held.
    fileprivate func file(of name: String) -> String? {
        (recipes + held.map(\.recipe)).first { $0.name == name }?.file
    }
}
