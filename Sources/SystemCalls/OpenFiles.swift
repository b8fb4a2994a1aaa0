import Glibc

public enum OpenFiles {
    /// Raises the soft limit, which is low only for the sake of select(2); nothing here uses that. Returns the new
    /// limit.
    public static func raiseLimit(to most: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        let wanted = min(limit.rlim_max, rlim_t(most))
        if limit.rlim_cur < wanted {
            limit.rlim_cur = wanted
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { return 1024 }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
