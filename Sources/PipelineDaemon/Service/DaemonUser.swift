import Glibc
import PictureFiles
import SystemCalls

/// The user under which the daemon runs.
enum DaemonUser {
    /// The user that the packages' systemd unit sets.
    private static let usual = "pipelined"

    /// Permanently switches a root process to the daemon's user, because root may read and run files that the daemon
    /// may not. Returns the user's name, or nil if the process does not switch.
    static func become(_ places: Places) throws(SystemError) -> String? {
        guard geteuid() == 0, let user = try find(places), user.number != 0 else { return nil }
        guard initgroups(user.name, user.group) == 0 else { throw SystemError("initgroups", user.name) }
        guard setgid(user.group) == 0 else { throw SystemError("setgid", user.name) }
        guard setuid(user.number) == 0 else { throw SystemError("setuid", user.name) }
        return user.name
    }

    /// Finds the daemon's user. It is the owner of the daemon's folder, as set by the unit's `User=`. Before the first
    /// start, that folder is missing; a daemon without `--root` then uses the packages' user.
    private static func find(_ places: Places) throws(SystemError) -> User? {
        if let folder = try FileSystem.status(places.data) { return User(folder.owner) }
        return places.root == nil ? User(named: usual) : nil
    }
}
