import Glibc

public enum OpenFiles {
    /// Raises the soft limit of open files up to `most`, and returns the new limit. The usual limit is low only because
    /// of select(2), which this project does not use.
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
