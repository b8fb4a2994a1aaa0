import Glibc

/// A file name in an open folder. The place stays valid if the folder or one of its parents is renamed.
public struct FilePlace: Sendable {
    /// Nil if `name` is a path. A path is safe only where no other user may rename folders.
    public let folder: Descriptor?
    public let name: String

    public init(_ path: String) { (folder, name) = (nil, path) }

    public init(_ folder: Descriptor, _ name: String) { (self.folder, self.name) = (folder, name) }

    public func status() throws(SystemError) -> FileStatus? { try FileSystem.status(name, in: folder) }
    public func remove() throws(SystemError) { try FileSystem.remove(name, in: folder) }

    /// Opens the file without following a link.
    public func open(_ flags: Int32) throws(SystemError) -> Descriptor {
        guard let folder else { return try Descriptor.open(name, flags | O_NOFOLLOW) }
        return try folder.open(name, flags)
    }
}
