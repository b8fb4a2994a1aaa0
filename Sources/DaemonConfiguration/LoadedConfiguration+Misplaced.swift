import PictureFiles
import PipelineModel
import SystemCalls

/// A recipe's folder that lies in the wrong place, or can't be created.
struct Misplacement {
    /// The problem, located in the file of the recipe that will be held.
    var problem: Problem
    /// Another recipe that may be at fault, and is held as well.
    var rival: Recipe?
    /// If the outbox lies within an inbox, contains the outbox's path as configured and the path with links resolved.
    /// Otherwise empty.
    var outboxes: Set<String> = []
}

/// Finds recipes' folders that lie in the wrong place or can't be created, and holds these recipes.
extension LoadedConfiguration {
    mutating func hold(_ misplaced: [Misplacement]) {
        for misplacement in misplaced {
            configuration.hold(because: misplacement.problem)
            if let rival = misplacement.rival { configuration.hold(rival.name, because: misplacement.problem) }
            misplacedOutboxes.formUnion(misplacement.outboxes)
        }
    }

    func misplaced(_ places: Places, starting: Bool) -> [Misplacement] {
        let outboxes = configuration.recipes.map { outbox(of: $0, places) }
        let folders = configuration.recipes.map { inbox(of: $0, places) } + places.own
        let disks = FolderAnswers(of: Set(folders), outboxes: Set(outboxes))
        return reserved() + sharedInboxes(places, disks) + nested(places, disks)
            + impossible(places, disks, starting: starting)
    }

    private func reserved() -> [Misplacement] {
        guard let recipe = recipe(Self.adHocName) else { return [] }
        return [
            Misplacement(
                problem: problem(
                    of: recipe,
                    "'\(Self.adHocName)' stands for `pipectl add --chain`; give the recipe's file another name"))
        ]
    }

    private func sharedInboxes(_ places: Places, _ disks: FolderAnswers) -> [Misplacement] {
        var owners: [String: Recipe] = [:]
        return configuration.recipes.compactMap { recipe in
            let folder = disks.resolved(inbox(of: recipe, places))
            guard let other = owners.updateValue(recipe, forKey: folder) else { return nil }
            owners[folder] = other
            let (wrong, rival) = recipe.file == nil ? (other, recipe) : (recipe, other)
            let problem = problem(
                of: wrong,
                "the inbox \(folder) is also that of recipe '\(rival.name)'; give one of them another Inbox=")
            return Misplacement(problem: problem, rival: rival.file == nil ? nil : rival)
        }
    }

    /// Finds outboxes and daemon folders that contain an inbox or lie in an inbox. In such a place, the daemon would
    /// mistake its own output for new pictures.
    private func nested(_ places: Places, _ disks: FolderAnswers) -> [Misplacement] {
        configuration.recipes.flatMap { taking in
            let folder = disks.resolved(inbox(of: taking, places))
            let outboxes = configuration.recipes.compactMap { writing -> Misplacement? in
                let outbox = outbox(of: writing, places)
                let resolved = disks.resolved(outbox)
                guard let conflict = conflict("the outbox of recipe '\(writing.name)'", resolved, folder) else {
                    return nil
                }
                let isWithin = FileSystem.lies(resolved, within: folder)
                return Misplacement(
                    problem: outboxProblem(of: writing, orElse: taking, conflict),
                    rival: isWithin || taking.file == nil ? nil : taking, outboxes: isWithin ? [outbox, resolved] : [])
            }
            let own = places.own.compactMap { conflict("the daemon's own folder", disks.resolved($0), folder) }
            return outboxes + own.map { Misplacement(problem: problem(of: taking, $0)) }
        }
    }

    private func conflict(_ what: String, _ other: String, _ inbox: String) -> String? {
        let advice = "results would be taken in again; put one of them elsewhere"
        if FileSystem.lies(other, within: inbox) { return "\(what), \(other), lies in the inbox \(inbox): \(advice)" }
        if FileSystem.lies(inbox, within: other) { return "the inbox \(inbox) lies in \(what), \(other): \(advice)" }
        return nil
    }

    /// Finds recipes whose outbox can't be created, so that each of their pictures would fail.
    private func impossible(_ places: Places, _ disks: FolderAnswers, starting: Bool) -> [Misplacement] {
        configuration.recipes.compactMap { recipe in
            let folder = outbox(of: recipe, places)
            guard let obstacle = disks.obstacle(to: folder), obstacle.isLasting || !starting else { return nil }
            return Misplacement(
                problem: outboxProblem(
                    of: recipe, orElse: recipe, "the outbox \(folder) can't be made: \(obstacle.message)"))
        }
    }

    // MARK: - Locations of problems

    /// Locates the problem at the Outbox= line of `recipe`, or at the recipe `other` if `recipe` is built in.
    private func outboxProblem(of recipe: Recipe, orElse other: Recipe, _ message: String) -> Problem {
        guard let file = recipe.file else { return problem(of: other, message) }
        guard let place = configuration.outboxPlaces[recipe.name] else {
            return Problem(file: file, line: nil, message: message)
        }
        return Problem(file: file, line: place.line, message: "Outbox= at column \(place.column): \(message)")
    }

    private func problem(of recipe: Recipe, _ message: String) -> Problem {
        Problem(file: recipe.place, line: nil, message: message)
    }
}
