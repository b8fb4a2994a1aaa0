package import SystemCalls

/// A result in an outbox, with the identity by which the daemon recognises it.
package struct PublishedFile: Sendable, Hashable {
    /// How the file at the result's path compares with the published file.
    package enum Standing: Sendable {
        case same
        /// A user has changed or replaced the file.
        case changed
        case gone
        /// Published by an older version, which recorded no identity.
        case unknown
    }

    package var path: String
    /// The file's identity when it was published; nil if an older version published it. The device is left out, because
    /// its number may change at a reboot.
    package var file: FileStatus.Identity?

    package init(path: String, file: FileStatus.Identity? = nil) {
        (self.path, self.file) = (path, file?.onAnyDevice)
    }

    /// Compares the file at the path with the published file. Throws if the disk can't be read.
    package func standing() throws(SystemError) -> Standing {
        guard let there = try FileSystem.status(path) else { return .gone }
        guard let file else { return .unknown }
        return there.kind == .file && file.isStill(there.identity, at: path) ? .same : .changed
    }
}

extension FileStatus.Identity {
    /// Whether the file at `path`, which has the identity `there`, is this file, unchanged. Size and modification time
    /// must match. The inode must match as well, unless the file system changes inode numbers.
    package func isStill(_ there: FileStatus.Identity, at path: String) -> Bool {
        guard (there.size, there.modified) == (size, modified) else { return false }
        return there.inode == inode || !FileSystem.keepsInodes(around: path)
    }
}

extension PublishedFile: Codable {
    private enum CodingKeys: CodingKey { case file, path }

    /// Also reads the form of an older version, which stored only the path.
    package init(from decoder: any Decoder) throws {
        if let path = try? decoder.singleValueContainer().decode(String.self) {
            self.init(path: path)
            return
        }
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            path: try values.decode(String.self, forKey: .path),
            file: try values.decodeIfPresent(FileStatus.Identity.self, forKey: .file))
    }
}

extension FileStatus.Identity: Codable {
    private enum CodingKeys: CodingKey { case inode, modified, size }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            device: 0, inode: try values.decode(Int.self, forKey: .inode),
            size: try values.decode(Int.self, forKey: .size), modified: try values.decode(Int.self, forKey: .modified))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(inode, forKey: .inode)
        try values.encode(modified, forKey: .modified)
        try values.encode(size, forKey: .size)
    }
}
