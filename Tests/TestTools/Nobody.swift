import Glibc

/// The unprivileged user `nobody`, for tests that run as root.
public enum Nobody {
    public static let number: UInt32 = 65534

    /// Whether the tests may give files to this user. Only root may.
    public static let canOwnFiles = geteuid() == 0

    /// The command prefix that runs a program as this user.
    public static let wrapper = [
        "/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs",
    ]
}
