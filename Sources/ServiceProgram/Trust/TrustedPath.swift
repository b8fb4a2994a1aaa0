import CLinux
import Glibc
package import SystemCalls

/// A path that was checked and opened one step at a time. So the opened file is the checked file, even if somebody
/// renames folders in between.
package struct TrustedPath {
    /// The folder that contains the file, and the file's name there.
    private let folder: Descriptor
    private let name: String
    /// The path of the file, with all links resolved.
    private let path: String
    /// Why the path was refused; nil if it was accepted.
    package let refusal: String?

    /// Calls `refusing` with each folder and link on the path, and with the file. Stops when `refusing` returns a
    /// reason.
    package init(
        to wanted: String, refusing: (_ status: FileStatus, _ path: String, _ open: Descriptor) -> String?
    ) throws(SystemError) {
        var folder = try Descriptor.open("/", Self.asPlace)
        var refusal = refusing(FileStatus(try folder.status()), "/", folder)
        var (here, last) = ("", ".")
        var names = Self.names(wanted)[...]
        var links = 0
        while refusal == nil, let name = names.popFirst() {
            let path = "\(here)/\(name)"
            let next = try Self.open(name, in: folder, path)
            let status = FileStatus(try next.status())
            // A `..` in a link leads to a folder that was checked before.
            if name != ".." { refusal = refusing(status, path, next) }
            if status.kind == .link {
                links += 1
                guard links <= 40 else { throw SystemError("open", wanted, code: ELOOP) }
                let target = try Self.text(of: next, path)
                if target.utf8.first == UInt8(ascii: "/") {
                    (folder, here) = (try Descriptor.open("/", Self.asPlace), "")
                }
                names = Self.names(target) + names
            } else if names.isEmpty, name != ".." {
                last = name
            } else {
                folder = next
                here = name == ".." ? String(here.prefix(upTo: here.lastIndex(of: "/") ?? here.startIndex)) : path
            }
        }
        (self.folder, self.refusal) = (folder, refusal)
        name = last
        path = last == "." ? FileSystem.join("/", here) : "\(here)/\(last)"
    }

    /// Opens the file. Fails if somebody has replaced the file with a link.
    package func open(_ flags: Int32) throws(SystemError) -> Descriptor {
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

    // O_PATH, which Swift does not import from <fcntl.h>.
    private static let asPlace: Int32 = 0o10000000
}
