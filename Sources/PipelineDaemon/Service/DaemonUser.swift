import Glibc
import PictureFiles
import SystemCalls

/// The user under which the daemon runs.
enum DaemonUser {
    /// The user in the packages' unit.
    private static let usual = "pipelined"

    /// Makes a root process this user for good, because root may read and run files that the daemon may not. Returns
    /// the name, or nil if the process keeps its user.
    static func become(_ places: Places) throws(SystemError) -> String? {
        guard geteuid() == 0, let user = try find(places), user.number != 0 else { return nil }
        guard initgroups(user.name, user.group) == 0 else { throw SystemError("initgroups", user.name) }
        guard setgid(user.group) == 0 else { throw SystemError("setgid", user.name) }
        guard setuid(user.number) == 0 else { throw SystemError("setuid", user.name) }
        return user.name
    }

    /// The owner of the daemon's folder, which is the unit's User=. Before the first start of an instance, this folder
    /// is missing.
    private static func find(_ places: Places) throws(SystemError) -> User? {
        if let folder = try FileSystem.status(places.data) { return User(folder.owner) }
        return places.root == nil ? User(named: usual) : nil
    }
}
