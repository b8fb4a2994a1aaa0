extension FileStatus {
    /// The attributes that identify a file and reveal a change of its content.
    public struct Identity: Sendable, Hashable {
        public var device: Int
        public var inode: Int
        public var size: Int
        public var modified: Int

        public init(device: Int, inode: Int, size: Int, modified: Int) {
            (self.device, self.inode, self.size, self.modified) = (device, inode, size, modified)
        }

        /// The identity of a missing file.
        public static let none = Identity(device: 0, inode: 0, size: 0, modified: 0)

        /// The identity without the device's number, which may change with a reboot.
        public var onAnyDevice: Identity { Identity(device: 0, inode: inode, size: size, modified: modified) }
    }

    public var identity: Identity {
        Identity(
            device: Int(truncatingIfNeeded: device), inode: Int(truncatingIfNeeded: inode), size: Int(size),
            modified: Int(modified))
    }
}
