import PipelineModel
import SystemCalls

/// The names of a job's results: `<outbox>/<subfolder>/<stem>[-N][.<output>].<suffix>`.
struct ResultName {
    let folder: String
    private let stem: String

    init(order: WorkOrder, path: String) {
        folder = FileSystem.join(order.outbox, FileSystem.subfolder(of: path))
        stem = Self.split(FileSystem.name(of: path)).stem
    }

    func path(_ staged: ImageHandle.Staged, number: Int) -> String {
        let ending =
            (number == 0 ? "" : "-\(number)") + (staged.picture.name.map { ".\($0)" } ?? "")
            + ".\(staged.picture.suffix)"
        return "\(folder)/\(Self.shortened(stem, toFit: ending))\(ending)"
    }

    /// `a/b.jpg` → `a/b-1.jpg`
    static func numbered(_ path: String, _ number: Int) -> String {
        let (stem, suffix) = split(FileSystem.name(of: path))
        let ending = "-\(number)\(suffix)"
        return FileSystem.join(FileSystem.folder(of: path), shortened(stem, toFit: ending) + ending)
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
