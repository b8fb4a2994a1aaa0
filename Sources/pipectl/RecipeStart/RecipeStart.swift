import Glibc
import PipelineControl
import PipelineModel
import SystemCalls

/// The file of a new recipe, complete and with comments.
struct RecipeStart: Encodable {
    enum Kind: String, CaseIterable {
        case web, archive, square, print, noir
    }

    let file: String
    let text: String

    init(_ name: String, _ kind: Kind, in folder: String) throws(Failure) {
        do throws(Refusal) { try OwnRecipe.check(name) } catch { throw .usage("'\(name)' \(error.sentence)") }
        file = FileSystem.join(folder, "\(name).recipe")
        text = Self.text(kind)
    }

    /// Writes the file, whole or not at all. An existing file is an error.
    func write() throws(Failure) {
        let exists = Failure("Exists", "\(file) exists already; nothing was written", .failed)
        guard !FileSystem.mayExist(file) else { throw exists }
        do throws(SystemError) { try FileSystem.write(Array(text.utf8), to: file, replaces: false) } catch {
            guard error.code != EEXIST else { throw exists }
            let advice = "nothing was written; try it with sudo, or write elsewhere with --to DIR"
            throw Failure("NotWritten", "\(error)\n\(advice)", .failed)
        }
    }
}
