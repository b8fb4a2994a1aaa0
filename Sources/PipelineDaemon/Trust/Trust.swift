import Glibc
import SystemCalls

/// Whoever may change a plugin, a hook, a recipe or the settings decides what the daemon does. So they are used only if nobody else can
/// change them: what is used, each folder on the way to it, and each link and its folder belong to an owner that is trusted, and
/// others can't write there, by mode or by ACL.
enum Trust {
    /// Root, the user that it runs as, and the owner of its program.
    static let owners: Set<UInt32> = {
        let program = try? FileSystem.status(FileSystem.resolved("/proc/self/exe"))
        return Set([0, geteuid()] + (program.map { [$0.owner] } ?? []))
    }()

    /// The way to a file; its refusal says which rule is broken, where, and what mends it.
    static func way(to path: String) throws(SystemError) -> Way { try Way(to: path, refusing: refusal) }

    /// The same rule alone. Of what is not there it says nothing.
    static func refusal(of path: String) -> String? { (try? way(to: path))?.refusal }

    private static func refusal(of status: FileStatus, at path: String, _ open: Descriptor) -> String? {
        guard owners.contains(status.owner) else {
            return "\(path) belongs to \(User.name(status.owner)); give it to root (`chown root`), or to the user that "
                + "pipelined runs as (`chown \(User.current)`)"
        }
        // A link has no mode. In a folder with the sticky bit, as /tmp, nobody can replace what is another's.
        if status.kind == .link || (status.kind == .folder && status.mode & S_ISVTX != 0) { return nil }
        if status.mode & S_IWOTH != 0 { return "everybody can write \(path); `chmod o-w` it" }
        // With an ACL these bits are its mask, the most that it gives to anybody.
        guard status.mode & S_IWGRP != 0 else { return nil }
        let list: AccessList?
        do {
            list = try AccessList(of: open, called: path)
        } catch {
            return "who may write \(path) can't be told (\(error)); `chmod g-w` it"
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

    /// Root's own group, or one of a single user, as systems make one for each.
    private static func isAlone(_ owner: UInt32, in group: UInt32) -> Bool {
        guard group != 0 else { return true }
        guard let person = getpwuid(owner)?.pointee, let entry = getgrgid(group)?.pointee, person.pw_gid == group,
            strcmp(person.pw_name, entry.gr_name) == 0
        else { return false }
        return entry.gr_mem.pointee == nil
    }
}
