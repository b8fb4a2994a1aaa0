import Glibc
import PipelineControl
import SystemCalls

/// The files below a folder, sorted by name. Symbolic links are not followed.
struct FolderWalk {
    /// Paths relative to the folder.
    private(set) var files: [String] = []
    /// Skipped paths, each with the reason.
    private(set) var ignored: [Control.Ignored] = []
    /// Folders that can't be read.
    private(set) var unread: [(folder: String, error: SystemError)] = []
    private let top: Descriptor

    init(_ folder: String) throws(SystemError) {
        top = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
        var folders = [""]
        while let inside = folders.popLast() {
            do {
                folders += try look(into: inside)
            } catch {
                if inside.isEmpty { throw error }
                unread.append((inside, error))
            }
        }
        files = files.map { (path: $0, order: NaturalOrder($0)) }.sorted { $0.order < $1.order }.map(\.path)
    }

    func open(_ file: String) throws(SystemError) -> Descriptor {
        try top.open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }

    /// Collects the files of a folder and returns its subfolders.
    private mutating func look(into inside: String) throws(SystemError) -> [String] {
        let folder = try top.openFolder(inside)
        var folders: [String] = []
        var misnamed: [String] = []
        for name in try FileSystem.names(in: folder, called: inside, misnamed: { misnamed.append($0) }) {
            let path = inside.isEmpty ? name : "\(inside)/\(name)"
            switch try FileSystem.status(name, in: folder)?.kind {
            case .file: files.append(path)
            case .folder where name.hasPrefix("."): ignored.append(.init(path: path, reason: "it is hidden"))
            case .folder: folders.append(path)
            case .link: ignored.append(.init(path: path, reason: "a symbolic link is not followed"))
            case .other: ignored.append(.init(path: path, reason: "a special file is not followed"))
            case nil: break
            }
        }
        ignored += misnamed.map { name in
            .init(path: inside.isEmpty ? name : "\(inside)/\(name)", reason: "its name is not UTF-8; rename it")
        }
        return folders
    }
}
