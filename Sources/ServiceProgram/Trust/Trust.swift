import Glibc
package import SystemCalls

/// Plugins, hooks, recipes and settings decide what the daemon does, so the daemon uses such a file only if no
/// untrusted user can change the file. The file, and each folder and symbolic link on the path to it, must belong to a
/// trusted owner. Nobody else may have permission to write, by mode or by ACL.
package enum Trust {
    /// Root, the user that the daemon runs as, and the owner of its program.
    package static let owners: Set<UInt32> = {
        let program = try? FileSystem.status(FileSystem.resolved("/proc/self/exe"))
        return Set([0, geteuid()] + (program.map { [$0.owner] } ?? []))
    }()

    /// Checks each step of the path to a file. The result's `refusal` names the broken rule, where it was broken, and
    /// the remedy.
    package static func way(to path: String) throws(SystemError) -> TrustedPath {
        try TrustedPath(to: path, refusing: refusal)
    }

    /// Why the file at `path` is refused; nil if it is trusted, or can't be examined.
    package static func refusal(of path: String) -> String? { (try? way(to: path))?.refusal }

    private static func refusal(of status: FileStatus, at path: String, _ open: Descriptor) -> String? {
        guard owners.contains(status.owner) else {
            return "\(path) belongs to \(User.name(status.owner)); give it to root (`chown root`), or to the user that "
                + "pipelined runs as (`chown \(User.current)`)"
        }
        // A link has no mode. In a folder with the sticky bit, such as /tmp, users can't replace each other's files.
        if status.kind == .link || (status.kind == .folder && status.mode & S_ISVTX != 0) { return nil }
        if status.mode & S_IWOTH != 0 { return "everybody can write \(path); `chmod o-w` it" }
        // If the file has an ACL, the group's mode bits are the ACL's mask: the most that the ACL grants to a named
        // user or to a group.
        guard status.mode & S_IWGRP != 0 else { return nil }
        let list: AccessList?
        do {
            list = try AccessList(of: open, called: path)
        } catch {
            return "the daemon can't tell who may write \(path) (\(error)); `chmod g-w` it"
        }
        if let writer = list?.writers.first(where: { !isTrusted($0, status.owner) }) {
            return "\(writer.name) can write \(path) by its ACL; `setfacl -x \(writer.entry)` it"
        }
        let groupWrites = list.map(\.groupWrites) ?? true
        guard groupWrites, !isAlone(status.owner, in: status.group) else { return nil }
        return "a group can write \(path); `chmod g-w` it"
    }

    private static func isTrusted(_ writer: AccessList.Writer, _ owner: UInt32) -> Bool {
        switch writer {
        case .user(let user): owners.contains(user)
        case .group(let group): isAlone(owner, in: group)
        }
    }

    /// Whether the group has no member besides `owner` and root. True for root's group, and for the private group that
    /// systems create for each user.
    private static func isAlone(_ owner: UInt32, in group: UInt32) -> Bool {
        guard group != 0 else { return true }
        guard let person = User(owner), person.group == group, let own = Group(group) else { return false }
        return own.name == person.name && !own.hasMembers
    }
}
