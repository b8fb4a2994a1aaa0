import CLinux
import Glibc
import SystemCalls

/// Where a path leads, gone step by step: what is checked on the way is what is used at its end, whatever others rename meanwhile.
struct Way {
    /// The folder in which it ends, and the name there.
    let folder: Descriptor
    let name: String
    /// With all links followed.
    let path: String

    /// Shows `look` each folder and link on the way, and what lies at its end.
    init(to path: String, _ look: (FileStatus, String) throws -> Void) throws {
        var folder = try Descriptor.open("/", Self.asPlace)
        var names = Self.names(path)[...]
        var here = ""
        var links = 0
        try look(FileStatus(folder.status()), "/")
        while let name = names.popFirst() {
            // Only a link's text can say so.
            if name == ".." {
                here = FileSystem.lies(here, within: "/") ? FileSystem.folder(of: here) : here
                if here == "/" { here = "" }
                folder = try Self.open("..", in: folder, here)
                continue
            }
            let place = "\(here)/\(name)"
            let next = try Self.open(name, in: folder, place)
            let status = FileStatus(try next.status())
            try look(status, place)
            if status.kind == .link {
                links += 1
                guard links <= 40 else { throw SystemError("open", path, code: ELOOP) }
                let target = try Self.text(of: next, place)
                if target.utf8.first == UInt8(ascii: "/") {
                    folder = try Descriptor.open("/", Self.asPlace)
                    here = ""
                }
                names = Self.names(target) + names
                continue
            }
            if names.isEmpty {
                (self.folder, self.name, self.path) = (folder, name, place)
                return
            }
            (folder, here) = (next, place)
        }
        (self.folder, self.name, self.path) = (folder, ".", here.isEmpty ? "/" : here)
    }

    /// What lies at its end, which is no link.
    func open(_ flags: Int32) throws(SystemError) -> Descriptor {
        let number = clinux_open_at(folder.number, name, flags | O_NOFOLLOW)
        guard number >= 0 else { throw SystemError("open", path) }
        return Descriptor(owning: number)
    }

    private static func open(_ name: String, in folder: Descriptor, _ path: String) throws(SystemError) -> Descriptor {
        let number = clinux_open_at(folder.number, name, asPlace | O_NOFOLLOW)
        guard number >= 0 else { throw SystemError("open", path) }
        return Descriptor(owning: number)
    }

    private static func names(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
    }

    private static func text(of link: Descriptor, _ path: String) throws(SystemError) -> String {
        var text = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(link.number, "", &text, text.count)
        guard count >= 0 else { throw SystemError("readlink", path) }
        return String(decoding: text[..<count], as: UTF8.self)
    }

    // O_PATH, which is not among what Swift has of <fcntl.h>.
    private static let asPlace: Int32 = 0o10000000
}
