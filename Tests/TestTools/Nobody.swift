import Glibc

/// A user without rights, for tests that root runs.
public enum Nobody {
    public static let number: UInt32 = 65534

    /// Whether files may be given to this user, which only root may do.
    public static let canOwnFiles = geteuid() == 0

    /// Runs a program as this user.
    public static let wrapper = [
        "/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs",
    ]
}
