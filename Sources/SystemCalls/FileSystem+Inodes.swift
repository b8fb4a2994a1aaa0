import CLinux
import Glibc

extension FileSystem {
    /// Whether files around `path` are known to keep their inode numbers. Network, FUSE and layered file systems may
    /// change them.
    public static func keepsInodes(around path: String) -> Bool {
        var status = statfs()
        guard uninterrupted({ statfs(folder(of: path), &status) }) == 0 else { return false }
        return keeping.contains(UInt32(truncatingIfNeeded: status.f_type))
    }

    /// ext2 to ext4, XFS, Btrfs, F2FS, tmpfs, ZFS; statfs(2) lists the numbers.
    private static let keeping: Set<UInt32> = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994, 0x2fc1_2fc1]
}
