/// Identifies the folder of an inbox: a file system may be mounted over it, or unmounted.
struct InboxPlace: Equatable {
    var mounts: Int
    var device: UInt64
    var inode: UInt64
}
