package import SystemCalls

/// Files that were taken but stay in the inbox. The inbox does not take such a file again until the file changes. A
/// file is recognised by its inode, size and time under any name. Because some file systems change inode numbers, a
/// file is also recognised by its name, size and time.
package struct KeptFiles: Sendable {
    private var known: Set<FileStatus.Identity> = []
    private var named: [FileSystem.Key: FileStatus.Identity] = [:]

    package init(_ files: [(path: String, file: FileStatus.Identity)] = []) {
        for (path, file) in files { insert(path, file) }
    }

    package mutating func insert(_ path: String, _ identity: FileStatus.Identity) {
        known.insert(identity.onAnyDevice)
        named[FileSystem.Key(path)] = identity.bytesAlone
    }

    func contains(_ path: String, _ identity: FileStatus.Identity) -> Bool {
        known.contains(identity.onAnyDevice) || named[FileSystem.Key(path)] == identity.bytesAlone
    }
}

extension FileStatus.Identity {
    fileprivate var bytesAlone: Self { Self(device: 0, inode: 0, size: size, modified: modified) }
}
