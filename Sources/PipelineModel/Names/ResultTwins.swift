/// Finds results of one recipe that would always get the same name, and results that would get no name.
struct ResultTwins {
    struct Mistake {
        /// The output whose `Name=` has to change.
        var output: String?
        var message: String
    }

    private typealias Named = (picture: PlannedPicture, output: RecipeOutput)

    private(set) var mistakes: [Mistake] = []

    init(of outputs: [RecipeOutput], recipe: String) {
        let results = outputs.flatMap { output in
            Planner.plan(outputs: [output], inBatch: false).results.map { Named($0, output) }
        }
        let usual = results.filter { $0.picture.naming == nil }
        // A result without Name= is named after its picture. The comparison assumes a picture outside any subfolder.
        var first = Dictionary(usual.map { (Self.usualName($0, usual), $0) }) { first, _ in first }
        for named in results {
            guard let naming = named.picture.naming else { continue }
            var facts = NameFacts()
            (facts.recipe, facts.output, facts.format) = (recipe, named.picture.name ?? "", named.picture.format)
            let name = naming.path(facts, suffix: Self.suffix(of: named.picture))
            facts.album = ""
            if naming.isNameless(facts) {
                let why = "Name=\(naming) gives \(Self.title(named)) no name"
                mistakes.append(Mistake(output: named.output.name, message: "\(why); add {stem} to it"))
            }
            let other = first[name, default: named]
            first[name] = other
            // A name that includes the size or the hash is known only after rendering, so it can't be compared here.
            guard other.picture != named.picture, !naming.needsResult else { continue }
            let twins = "\(Self.title(other)) and \(Self.title(named)) both make \(name)"
            mistakes.append(Mistake(output: named.output.name, message: "\(twins); put {output} into Name="))
        }
    }

    private static func usualName(_ named: Named, _ all: [Named]) -> String {
        let suffix = suffix(of: named.picture)
        func isPlain(_ picture: PlannedPicture) -> Bool {
            self.suffix(of: picture) == suffix && picture.name.map { [suffix, picture.format].contains($0) } ?? true
        }
        let isAlone = isPlain(named.picture) && all.count { isPlain($0.picture) } == 1
        return NameField.stem.example + (isAlone ? "" : named.picture.name.map { ".\($0)" } ?? "") + ".\(suffix)"
    }

    private static func suffix(of picture: PlannedPicture) -> String { picture.suffix ?? NameField.format.example }

    private static func title(_ named: Named) -> String {
        guard let name = named.picture.name else { return "[Output]" }
        return name == named.output.name ? "[Output \(name)]" : "tee \(name)"
    }
}
