import CLinux
import Glibc
package import SystemCalls

/// The users and groups that a file's POSIX ACL allows to write. The kernel stores the ACL in an extended attribute
/// (linux/posix_acl_xattr.h).
package struct AccessList {
    enum Writer {
        case user(UInt32)
        case group(UInt32)

        var name: String {
            switch self {
            case .user(let user): "user \(User.name(user))"
            case .group(let group): "group \(Group.name(group))"
            }
        }

        /// The ACL entry's user or group, as an argument of setfacl(1).
        var entry: String {
            switch self {
            case .user(let user): "u:\(User.name(user))"
            case .group(let group): "g:\(Group.name(group))"
            }
        }
    }

    /// The named users and groups that may write.
    private(set) var writers: [Writer] = []
    /// Whether the file's own group may write.
    private(set) var groupWrites = false

    /// Nil when the file has no ACL. The descriptor may be opened with O_PATH.
    init?(of file: Descriptor, called name: String) throws(SystemError) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = getxattr("/proc/self/fd/\(file.number)", "system.posix_acl_access", &bytes, bytes.count)
        guard count >= 0 else {
            if errno == ENODATA || errno == ENOTSUP { return nil }
            throw SystemError("getxattr", name)
        }
        self.init(bytes[..<count])
    }

    /// Allows only the file's owner and this group to read and write the file. Unlike a change of the file's group, a
    /// change of its ACL needs neither a privilege nor membership in the group.
    package static func open(_ path: String, toGroup group: UInt32) throws(SystemError) {
        let anyone = UInt32.max
        let entries: [(kind: UInt16, rights: UInt16, whose: UInt32)] = [
            (0x01, 6, anyone), (0x04, 0, anyone), (0x08, 6, group), (0x10, 6, anyone), (0x20, 0, anyone),
        ]
        var bytes: [UInt8] = []
        func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number.littleEndian) { bytes += $0 } }
        append(UInt32(2))
        for entry in entries {
            append(entry.kind)
            append(entry.rights)
            append(entry.whose)
        }
        guard setxattr(path, "system.posix_acl_access", bytes, bytes.count, 0) == 0 else {
            throw SystemError("setxattr", path)
        }
    }

    /// Parses the attribute: a version of four bytes, then eight bytes for each entry, with its kind, its rights, and
    /// the user or group.
    init(_ bytes: ArraySlice<UInt8>) {
        func number(at start: Int, bytes count: Int) -> UInt32 {
            (0..<count).reduce(0) { $0 | UInt32(bytes[bytes.startIndex + start + $1]) << (8 * $1) }
        }
        for start in stride(from: 4, through: bytes.count - 8, by: 8) where number(at: start + 2, bytes: 2) & 2 != 0 {
            let whose = number(at: start + 4, bytes: 4)
            switch number(at: start, bytes: 2) {
            case 0x02: writers.append(.user(whose))
            case 0x04: groupWrites = true
            case 0x08: writers.append(.group(whose))
            default: break
            }
        }
    }
}
