import Glibc
import PipelineControl
import SystemCalls

/// The file of a new recipe, complete and with comments.
struct RecipeStart: Encodable {
    enum Kind: String, CaseIterable {
        case web, archive, square, print, noir
    }

    let file: String
    let text: String

    init(_ name: String, _ kind: Kind, in folder: String) throws(Failure) {
        guard Self.isName(name) else {
            throw .usage(
                "'\(name)' can't be a recipe's name: it begins with a letter or digit; letters, digits, - and _ follow, 60 in all"
            )
        }
        file = FileSystem.join(folder, "\(name).recipe")
        text = Self.text(kind)
    }

    /// Writes the file, whole or not at all. An existing file is an error.
    func write() throws(Failure) {
        let exists = Failure("Exists", "\(file) is here already; nothing was written", .failed)
        guard !FileSystem.mayExist(file) else { throw exists }
        do throws(SystemError) { try FileSystem.write(Array(text.utf8), to: file, replaces: false) } catch {
            guard error.code != EEXIST else { throw exists }
            let advice = "nothing was written; try it with sudo, or write elsewhere with --to DIR"
            throw Failure("NotWritten", "\(error)\n\(advice)", .failed)
        }
    }

    /// Whether a recipe may have this name, which is also the name of its inbox folder.
    private static func isName(_ name: String) -> Bool {
        func isPlain(_ byte: UInt8) -> Bool {
            (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
        }
        let bytes = Array(name.utf8)
        return bytes.count <= 60 && bytes.first.map(isPlain) == true
            && bytes.allSatisfy { isPlain($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
}
