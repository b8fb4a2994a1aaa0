import Glibc
import SystemCalls

extension WorkerChannel {
    /// The channel that the daemon left at descriptor 3, if there is one.
    public static func inherited() -> WorkerChannel? {
        var status = stat()
        guard fstat(workerDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        _ = fcntl(workerDescriptor, F_SETFD, FD_CLOEXEC)
        return WorkerChannel(Descriptor(owning: workerDescriptor))
    }
}
