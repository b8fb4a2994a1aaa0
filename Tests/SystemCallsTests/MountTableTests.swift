import Glibc
import TestTools
import Testing

@testable import SystemCalls

@Suite("Mounted file systems")
struct MountTableTests {
    private static let text = #"""
        22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
        30 22 0:25 / /srv rw - tmpfs tmpfs rw
        31 30 8:2 / /srv/photo\040shop rw - ext4 /dev/sdb1 rw
        32 31 8:3 / /srv/photo\040shop rw - ext4 /dev/sdc1 rw
        """#

    @Test(
        "a folder's depth is the number of mounts at and above it; stacked mounts count each",
        arguments: [("/srv", 2), ("/srvs", 1), ("/srv/photo shop/inbox", 4), ("/srv/photo", 2), ("/home", 1)])
    func depth(folder: String, expected: Int) {
        #expect(MountTable.depth(of: folder, in: Self.text) == expected)
    }

    @Test(
        "a missing folder may reappear only where an expected mount is missing",
        arguments: [
            ("/srv/nas/out", true), ("/srv/my-disk/out", true), ("/srv/photo shop/out", false), ("/srv/out", false),
            ("/mnt/nas/out", true), ("/mnt", false), ("/media/ada/stick", true), ("/mnt/here/out", false),
            ("/srv/nasty", false),
        ])
    func mayCome(folder: String, expected: Bool) {
        let fstab = """
            # a comment /srv/comment
            UUID=1 / ext4 defaults 0 1
            nas:/x\t/srv/nas nfs4 _netdev 0 0
            UUID=2 /srv/photo\\040shop ext4 defaults
            UUID=3 none swap sw 0 0
            """
        let mounted = Self.text + "\n40 22 8:9 / /mnt/here rw - ext4 /dev/sdd1 rw"
        let units = [#"srv-my\x2ddisk.mount"#, "multi-user.target.wants"]
        #expect(MountTable.mayCome(with: folder, fstab: fstab, units: units, mounted: mounted) == expected)
    }

    @Test("every folder of this machine lies on some mount")
    func real() throws {
        #expect(try MountTable.depth(of: "/") >= 1)
        #expect(try MountTable.depth(of: "/proc/self") > MountTable.depth(of: "/"))
    }

    @Test(
        "a table that changes while it is read is read again",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func changing() throws {
        try withTemporaryFolder { (folder: String) in
            let disk = try Mount.made(on: folder, size: "64k")
            let table = try Descriptor.open(MountTable.path, O_RDONLY)
            var first = [UInt8](repeating: 0, count: 64 * 1024)
            #expect(read(table.number, &first, first.count) > 0)
            try disk.unmount()
            let again = try Mount.made(on: folder, size: "64k")
            defer { try? again.unmount() }
            // The mounts changed after the first part of the table was read. The text must list only the new mount.
            let lines = try MountTable.text(of: table).split(separator: "\n")
            #expect(lines.count { $0.contains(FileSystem.name(of: folder)) } == 1 && lines.count > 1)
        }
    }
}
