import Testing

@testable import SystemCalls

@Suite("What is mounted")
struct MountTableTests {
    private static let text = #"""
        22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
        30 22 0:25 / /srv rw - tmpfs tmpfs rw
        31 30 8:2 / /srv/photo\040shop rw - ext4 /dev/sdb1 rw
        32 31 8:3 / /srv/photo\040shop rw - ext4 /dev/sdc1 rw
        """#

    @Test(
        "a folder lies under the mounts at and above it, one over the other each counted",
        arguments: [("/srv", 2), ("/srvs", 1), ("/srv/photo shop/inbox", 4), ("/srv/photo", 2), ("/home", 1)])
    func depth(folder: String, expected: Int) {
        #expect(MountTable.depth(of: folder, in: Self.text) == expected)
    }

    @Test("every folder of this machine lies under something")
    func real() throws {
        #expect(try MountTable.depth(of: "/") >= 1)
        #expect(try MountTable.depth(of: "/proc/self") > MountTable.depth(of: "/"))
    }
}
