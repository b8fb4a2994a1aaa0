/// What lies where an inbox is: another file system may be mounted over it, or away.
struct InboxPlace: Equatable {
    var mounts: Int
    var device: UInt64
    var inode: UInt64
}
