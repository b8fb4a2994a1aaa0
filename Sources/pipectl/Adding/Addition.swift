import Glibc
import SystemCalls

/// Something that `pipectl add` adds: a single file or folder, or all URLs of the command line together.
enum Addition {
    case picture(String)
    case list(String)
    case folder(String)
    case urls([String])
    case standardInput

    /// Parses the arguments; all URLs of the command line form one list.
    static func all(_ arguments: [String]) -> [Addition] {
        let urls = arguments.filter(isURL)
        let files = arguments.filter { !isURL($0) }.map { argument -> Addition in
            if argument == "-" { return .standardInput }
            if isList(argument) { return .list(argument) }
            let isFolder = (try? Descriptor.open(argument, O_RDONLY | O_DIRECTORY)) != nil
            return isFolder ? .folder(argument) : .picture(argument)
        }
        return (urls.isEmpty ? [] : [.urls(urls)]) + files
    }

    /// Whether the file's extension marks it as a list of URLs.
    static func isList(_ file: String) -> Bool {
        let name = file.lowercased()
        return [".urls", ".url", ".csv", ".tsv"].contains(where: name.hasSuffix)
    }

    /// Whether the argument looks like a URL that is neither http nor https. Messages don't quote it, because it may
    /// contain a password.
    private static func isForeign(_ argument: String) -> Bool {
        argument.contains("://") || (argument.contains(":") && argument.contains("@"))
    }

    private static func isURL(_ argument: String) -> Bool {
        ["http://", "https://"].contains { argument.lowercased().hasPrefix($0) }
    }

    var name: String {
        switch self {
        case .picture(let file), .list(let file), .folder(let file):
            Self.isForeign(file) ? "an argument that is not an http or https URL" : file
        case .urls(let urls): urls.count == 1 ? "the URL" : "the URLs"
        case .standardInput: "standard input"
        }
    }

    /// Opens the file for the daemon to read.
    func opened() throws -> Descriptor {
        do {
            switch self {
            case .picture(let file), .list(let file), .folder(let file): return try open(file)
            case .urls(let urls): return try Descriptor.memory(Array(urls.joined(separator: "\n").utf8))
            case .standardInput: return try Descriptor.memory(readAll())
            }
        } catch let error as SystemError {
            throw cannot(error.reason)
        }
    }

    private func cannot(_ why: String) -> Failure { Failure("CannotRead", "\(name): \(why)", .failed) }

    private func open(_ file: String) throws -> Descriptor {
        // Without O_NONBLOCK, opening a named pipe would block until another process opens it for writing.
        let descriptor = try Descriptor.open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        guard try descriptor.status().st_mode & S_IFMT == S_IFREG else { throw cannot("is not a regular file") }
        return descriptor
    }

    private func readAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 65536)
        while true {
            let got = uninterrupted { read(STDIN_FILENO, &room, room.count) }
            guard got >= 0 else { throw SystemError("read", "standard input") }
            if got == 0 { return bytes }
            bytes += room.prefix(got)
        }
    }
}
