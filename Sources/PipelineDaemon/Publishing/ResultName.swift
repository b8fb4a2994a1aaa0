import JobLedger
import PipelineModel
import SystemCalls

/// The names of a job's results: `<outbox>/<subfolder>/<stem>[-N][.<output>].<suffix>`. An output named like its format
/// leaves the name out.
struct ResultName {
    let folder: String
    private let stem: String

    init(order: WorkOrder, path: String) {
        folder = FileSystem.join(order.outbox, FileSystem.subfolder(of: path))
        stem = Self.split(FileSystem.name(of: path)).stem
    }

    /// `all` are the results of the job, this one among them.
    func path(_ staged: ImageHandle.Staged, of all: [ImageHandle.Staged], number: Int) -> String {
        let isAlone = all.count { $0.isNamedAsItsFormat && $0.suffix == staged.suffix } <= 1
        let name = staged.isNamedAsItsFormat && isAlone ? nil : staged.picture.name
        let ending = (number == 0 ? "" : "-\(number)") + (name.map { ".\($0)" } ?? "") + ".\(staged.suffix)"
        return "\(folder)/\(Self.shortened(stem, toFit: ending))\(ending)"
    }

    /// `a/b.jpg` → `a/b-1.jpg`
    static func numbered(_ path: String, _ number: Int) -> String {
        let (stem, suffix) = split(FileSystem.name(of: path))
        let ending = "-\(number)\(suffix)"
        return FileSystem.join(FileSystem.folder(of: path), shortened(stem, toFit: ending) + ending)
    }

    /// `a/b-1.jpg` → `a/b.jpg`; any other name stays.
    static func unnumbered(_ path: String) -> String {
        let (stem, suffix) = split(FileSystem.name(of: path))
        guard let dash = stem.lastIndex(of: "-"), Int(stem[stem.index(after: dash)...]) != nil else { return path }
        return FileSystem.join(FileSystem.subfolder(of: path), stem[..<dash] + suffix)
    }

    private static func split(_ name: String) -> (stem: String, suffix: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...]))
    }

    /// A name has at most 255 bytes.
    private static func shortened(_ stem: String, toFit ending: String) -> String {
        var stem = stem
        while stem.utf8.count + ending.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return stem
    }
}

extension ImageHandle.Staged {
    private var format: String { result?.format ?? picture.format ?? "" }
    fileprivate var suffix: String { RenderedOutput.suffix(of: format) }

    /// True as well when it has no name.
    fileprivate var isNamedAsItsFormat: Bool { picture.name.map { [suffix, format].contains($0) } ?? true }
}
