import PipelineModel
import SystemCalls

/// Folders that can't be where they are, or can't be at all.
extension LoadedConfiguration {
    func misplaced(_ places: Places, starting: Bool) -> [Problem] {
        reserved() + sharedInboxes(places) + nested(places) + impossible(places, starting: starting)
    }

    private func reserved() -> [Problem] {
        guard let recipe = recipe(Self.adHocName) else { return [] }
        return [
            problem(
                of: recipe, "'\(Self.adHocName)' stands for `pipectl add --chain`; give the recipe's file another name")
        ]
    }

    private func sharedInboxes(_ places: Places) -> [Problem] {
        var owners: [String: Recipe] = [:]
        return configuration.recipes.compactMap { recipe in
            let folder = FileSystem.resolved(inbox(of: recipe, places))
            guard let other = owners.updateValue(recipe, forKey: folder) else { return nil }
            owners[folder] = other
            return problem(
                of: recipe.file == nil ? other : recipe,
                "the inbox \(folder) is also that of recipe '\(recipe.file == nil ? recipe.name : other.name)'; "
                    + "give one of them another Inbox=")
        }
    }

    /// A folder that the daemon writes to must not lie in an inbox, nor an inbox in one of those: it would eat its own output.
    private func nested(_ places: Places) -> [Problem] {
        configuration.recipes.flatMap { taking in
            let folder = FileSystem.resolved(inbox(of: taking, places))
            let outboxes = configuration.recipes.compactMap { writing -> Problem? in
                conflict("the outbox of recipe '\(writing.name)'", outbox(of: writing, places), folder).map {
                    outboxProblem(of: writing, orElse: taking, $0)
                }
            }
            let own = places.own.compactMap { conflict("the daemon's own folder", $0, folder) }
            return outboxes + own.map { problem(of: taking, $0) }
        }
    }

    private func conflict(_ what: String, _ written: String, _ inbox: String) -> String? {
        let other = FileSystem.resolved(written)
        let advice = "results would be taken in again; put one of them elsewhere"
        if FileSystem.lies(other, within: inbox) { return "\(what), \(other), lies in the inbox \(inbox): \(advice)" }
        if FileSystem.lies(inbox, within: other) { return "the inbox \(inbox) lies in \(what), \(other): \(advice)" }
        return nil
    }

    /// An outbox that can't be made would fail every picture.
    private func impossible(_ places: Places, starting: Bool) -> [Problem] {
        configuration.recipes.compactMap { recipe in
            let folder = outbox(of: recipe, places)
            guard let obstacle = Obstacle(to: folder), obstacle.isLasting || !starting else { return nil }
            return outboxProblem(of: recipe, orElse: recipe, "the outbox \(folder) can't be made: \(obstacle.message)")
        }
    }

    // MARK: - Where

    /// The problem is placed at the recipe's Outbox= line, or at `other` when the recipe is built in.
    private func outboxProblem(of recipe: Recipe, orElse other: Recipe, _ message: String) -> Problem {
        guard let file = recipe.file else { return problem(of: other, message) }
        guard let place = configuration.outboxPlaces[recipe.name] else {
            return Problem(file: file, line: nil, message: message)
        }
        return Problem(file: file, line: place.line, message: "Outbox= at column \(place.column): \(message)")
    }

    private func problem(of recipe: Recipe, _ message: String) -> Problem {
        Problem(file: recipe.file ?? "built-in recipe \(recipe.name)", line: nil, message: message)
    }
}
