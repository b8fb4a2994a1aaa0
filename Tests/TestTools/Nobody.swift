import Glibc

/// An unprivileged user, for tests that run as root.
public enum Nobody {
    public static let number: UInt32 = 65534

    /// Whether files may be given to this user, which only root may do.
    public static let canOwnFiles = geteuid() == 0

    /// The command that runs a program as this user.
    public static let wrapper = [
        "/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs",
    ]
}
