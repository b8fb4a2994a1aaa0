import Glibc
import PictureFiles
import SystemCalls

/// The user that the daemon runs as.
enum DaemonUser {
    /// The user of the packages' unit.
    private static let usual = "pipelined"

    /// Makes root this user for good: root may read and run what the daemon may not. Returns the name, or nil when this
    /// process's user is left as it is.
    static func become(_ places: Places) throws(SystemError) -> String? {
        guard geteuid() == 0, let user = try find(places), user.number != 0 else { return nil }
        guard initgroups(user.name, user.group) == 0 else { throw SystemError("initgroups", user.name) }
        guard setgid(user.group) == 0 else { throw SystemError("setgid", user.name) }
        guard setuid(user.number) == 0 else { throw SystemError("setuid", user.name) }
        return user.name
    }

    /// The owner of the daemon's folder, which is the unit's User=. Before the first start of an instance there is no
    /// such folder.
    private static func find(_ places: Places) throws(SystemError) -> User? {
        if let folder = try FileSystem.status(places.data) { return User(folder.owner) }
        return places.root == nil ? User(named: usual) : nil
    }
}
