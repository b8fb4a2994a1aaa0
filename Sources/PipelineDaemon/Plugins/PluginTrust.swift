import Glibc
import SystemCalls

/// Who may change a plugin's file decides what workers do, so only files that nobody else can change are loaded: the file, and each
/// folder above it, belongs to root, to the user that the daemon runs as, or to the owner of the daemon's program, and others can't write there.
struct PluginTrust {
    private let owners: Set<UInt32>

    init() {
        let program = try? FileSystem.status(FileSystem.resolved("/proc/self/exe"))
        owners = Set([0, geteuid()] + (program.map { [$0.owner] } ?? []))
    }

    /// Which rule `file` breaks, that lies at `path` with all links resolved; nil when it may be loaded.
    func refusal(of file: FileStatus, at path: String) throws(SystemError) -> String? {
        if let rule = broken(file, path) { return rule }
        var folder = path
        repeat {
            folder = FileSystem.folder(of: folder)
            if let status = try FileSystem.status(folder), let rule = broken(status, folder) { return rule }
        } while folder != "/"
        return nil
    }

    private func broken(_ status: FileStatus, _ path: String) -> String? {
        guard owners.contains(status.owner) else {
            return
                "\(path) belongs to \(Self.name(of: status.owner)); give it to root, or to the user that pipelined runs "
                + "as (chown)"
        }
        // In a folder with the sticky bit, as /tmp, nobody can replace what is another's.
        if status.kind == .folder, status.mode & S_ISVTX != 0 { return nil }
        if status.mode & S_IWOTH != 0 { return "everybody can write \(path); take that away (chmod o-w)" }
        if status.mode & S_IWGRP != 0, !isAlone(status.owner, in: status.group) {
            return "a group can write \(path); take that away (chmod g-w)"
        }
        return nil
    }

    /// Root's own group, or one of a single user, as systems make one for each.
    private func isAlone(_ owner: UInt32, in group: UInt32) -> Bool {
        guard group != 0 else { return true }
        guard let person = getpwuid(owner)?.pointee, let entry = getgrgid(group)?.pointee, person.pw_gid == group,
            strcmp(person.pw_name, entry.gr_name) == 0
        else { return false }
        return entry.gr_mem.pointee == nil
    }

    private static func name(of user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)"
    }
}
