/// Identifies the folder at an inbox's path, to notice that a file system was mounted over it, or unmounted.
struct InboxPlace: Equatable {
    var mounts: Int
    var device: UInt64
    var inode: UInt64
}
