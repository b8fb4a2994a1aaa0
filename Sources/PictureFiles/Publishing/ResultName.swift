package import JobModel
package import PipelineModel
import SystemCalls
import WorkerPools

/// Builds the paths of a job's results: from the template `Name=`, or else as
/// `<outbox>/<subfolder>/<stem>[-N][.<output>].<suffix>`. If an output is named after its format, its name is omitted.
package struct ResultName {
    private let outbox: String
    private let path: String
    private let facts: NameFacts

    /// `path` is the picture's path relative to its inbox, or its name. `facts` contains the album and the date, which
    /// the path does not show.
    package init(order: WorkOrder, path: String, facts: NameFacts = NameFacts()) {
        (outbox, self.path) = (order.outbox, path)
        var facts = facts
        (facts.name, facts.recipe) = (FileSystem.name(of: path), order.recipe)
        self.facts = facts
    }

    /// `all` are the results of the job, including this one.
    package func path(_ staged: ImageHandle.Staged, of all: [ImageHandle.Staged], number: Int, counter: Int? = nil)
        -> String
    {
        guard let naming = staged.picture.naming else { return usual(staged, of: all, number: number) }
        return FileSystem.join(
            outbox, naming.path(facts(staged, counter: counter), number: number, suffix: staged.suffix))
    }

    private func facts(_ staged: ImageHandle.Staged, counter: Int?) -> NameFacts {
        var facts = facts
        (facts.output, facts.format, facts.counter) = (staged.picture.name ?? "", staged.format, counter)
        (facts.width, facts.height) = (staged.result?.width, staged.result?.height)
        facts.hash = staged.result?.hash
        return facts
    }

    private func usual(_ staged: ImageHandle.Staged, of all: [ImageHandle.Staged], number: Int) -> String {
        let stem = Self.split(FileSystem.name(of: path)).stem.withoutEnding(staged.suffix)
        let ending = (number == 0 ? "" : "-\(number)") + mark(staged, of: all) + ".\(staged.suffix)"
        let folder = FileSystem.join(outbox, FileSystem.subfolder(of: path))
        return "\(folder)/\(Self.shortened(stem, toFit: ending))\(ending)"
    }

    /// The part of a name that distinguishes this result from the other results, such as `.thumb`. If the output is
    /// named after its format, the part is empty, or `-avif` if several results have the same suffix.
    private func mark(_ staged: ImageHandle.Staged, of all: [ImageHandle.Staged]) -> String {
        guard let name = staged.picture.name else { return "" }
        guard staged.isNamedAsItsFormat else { return ".\(name)" }
        let rivals = all.filter { $0.picture.naming == nil && $0.isNamedAsItsFormat && $0.suffix == staged.suffix }
        return rivals.count > 1 ? "-\(name)" : ""
    }

    /// Throws if two results of the job have the same name. Names that depend on results not rendered yet are not
    /// checked.
    package func check(_ staged: [ImageHandle.Staged]) throws {
        guard !staged.contains(where: \.isLie) else {
            throw JobFailure("the worker reported an impossible result", advice: "report this")
        }
        var first: [FileSystem.Key: ImageHandle.Staged] = [:]
        for file in staged where file.isDecided {
            let path = path(file, of: staged, number: 0)
            guard let other = first.updateValue(file, forKey: .init(path)) else { continue }
            var failure = JobFailure(
                "\(other.title) and \(file.title) would both be \(FileSystem.relative(path, to: outbox))",
                advice: "put {output} into Name= of the recipe, `pipectl reload`, and drop the picture again")
            failure.stage = "names"
            throw failure
        }
    }

    /// `a/b.jpg` → `a/b-1.jpg`
    static func numbered(_ path: String, _ number: Int) -> String {
        let (stem, suffix) = split(FileSystem.name(of: path))
        let ending = "-\(number)\(suffix)"
        return FileSystem.join(FileSystem.folder(of: path), shortened(stem, toFit: ending) + ending)
    }

    /// Whether `other` is `name`, or is `name` with a number that `numbered` has added.
    static func isVariant(_ other: String, of name: String) -> Bool {
        if other == name { return true }
        guard let digits = split(other).stem.split(separator: "-").last, let number = Int(digits) else { return false }
        return FileSystem.name(of: numbered(name, number)) == other
    }

    /// `a/b-1.jpg` → `a/b.jpg`; other names stay the same.
    package static func unnumbered(_ path: String) -> String {
        let (stem, suffix) = split(FileSystem.name(of: path))
        guard let dash = stem.lastIndex(of: "-"), Int(stem[stem.index(after: dash)...]) != nil else { return path }
        return FileSystem.join(FileSystem.subfolder(of: path), stem[..<dash] + suffix)
    }

    private static func split(_ name: String) -> (stem: String, suffix: String) { NameFacts.split(name) }

    /// Shortens `stem` so that the whole name has at most 255 bytes.
    package static func shortened(_ stem: String, toFit ending: String) -> String {
        var stem = stem
        while stem.utf8.count + ending.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return stem
    }
}

extension ImageHandle.Staged {
    fileprivate var format: String? { result?.format ?? picture.format }
    /// The file suffix of the result. While the format is unknown, the text `{format}` takes its place.
    fileprivate var suffix: String { format.map(RenderedOutput.suffix) ?? NameField.format.example }
    /// Whether the name is already certain: the result exists, or the name needs no fact that only the worker can
    /// provide.
    fileprivate var isDecided: Bool { result != nil || picture.format != nil && picture.naming?.needsResult != true }

    /// Whether the output is named after its format, or has no name.
    fileprivate var isNamedAsItsFormat: Bool { picture.name.map { [suffix, format].contains($0) } ?? true }

    fileprivate var title: String { picture.name.map { "the result '\($0)'" } ?? "the result of [Output]" }

    /// Whether the worker's answer contains an impossible format or hash. The worker has read a foreign file, so it
    /// can't be trusted, and these texts become part of a path.
    fileprivate var isLie: Bool {
        func consists(_ text: String, of digits: ClosedRange<UInt8>, _ letters: ClosedRange<UInt8>) -> Bool {
            text.utf8.allSatisfy { digits.contains($0) || letters.contains($0) }
        }
        guard let result else { return false }
        let isHash = result.hash.map { $0.utf8.count == 64 && consists($0, of: 0x30...0x39, 0x61...0x66) } ?? false
        return !consists(result.format, of: 0x30...0x39, 0x61...0x7a)
            || picture.naming?.asks(for: .hash) == true && !isHash
    }
}
