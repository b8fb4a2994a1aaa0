import CLinux
import Glibc

extension FileSystem {
    /// Whether the file system of `path` is known to keep the inode numbers of its files. Network, FUSE and layered
    /// file systems may change them.
    public static func keepsInodes(around path: String) -> Bool {
        var status = statfs()
        guard uninterrupted({ statfs(folder(of: path), &status) }) == 0 else { return false }
        return keeping.contains(UInt32(truncatingIfNeeded: status.f_type))
    }

    /// The type numbers (statfs(2)) of ext2 to ext4, XFS, Btrfs, F2FS, tmpfs and ZFS.
    private static let keeping: Set<UInt32> = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x2fc1_2fc1]
}
