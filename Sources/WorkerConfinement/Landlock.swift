import CLinux
import Glibc
import SystemCalls

/// Denies all paths but the named ones, as far as the running kernel's Landlock can.
enum Landlock {
    static func begin(_ walls: Walls) throws {
        let version = clinux_landlock_version()
        guard version > 0 else {
            throw WallError(absence(errno))
        }
        // The ruleset applies to this thread and the threads that it starts later, but to no other.
        let threads = try FileSystem.names(in: "/proc/self/task").count
        let network: UInt64 = walls.connects ? 0b01 : 0b11
        let ruleset = clinux_landlock_ruleset(files(version), version >= 4 ? network : 0, version >= 6 ? 0b11 : 0)
        guard ruleset >= 0 else { throw WallError(errno) }
        let descriptor = Descriptor(owning: ruleset)
        for path in walls.readable {
            // A rule applies to the file that exists now; links are followed.
            guard let place = try? Descriptor.open(path, O_RDONLY) else { continue }
            let isFolder = FileSystem.isFolder(path)
            guard clinux_landlock_allow(ruleset, isFolder ? readFile | readFolder : readFile, place.number) == 0 else {
                throw WallError(errno)
            }
        }
        guard clinux_landlock_restrict(descriptor.number) == 0 else { throw WallError(errno) }
        guard threads == 1 else {
            throw WallError(
                "\(threads) threads ran before it, and it holds for one; a plugin starts threads when loaded")
        }
    }

    /// A container's call filter refuses with EPERM, or with the error of a kernel that lacks the call.
    private static func absence(_ code: Int32) -> String {
        switch code {
        case EOPNOTSUPP: "it is off; boot with landlock in lsm="
        case EPERM, EACCES:
            "the container's seccomp profile refuses it; allow landlock_create_ruleset, landlock_add_rule and "
                + "landlock_restrict_self"
        default: "the kernel has none, which came with 5.13, or the container's seccomp profile hides it"
        }
    }

    /// LANDLOCK_ACCESS_FS_READ_FILE and _READ_DIR.
    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3

    /// The bits of LANDLOCK_ACCESS_FS_*, in the order in which versions added them: first 13, then moving between
    /// folders, truncating, ioctl on devices. Later versions add binding and connecting, then abstract sockets and
    /// signals.
    private static func files(_ version: Int32) -> UInt64 {
        let count =
            switch version {
            case 1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return 1 << count - 1
    }
}
