import Glibc
import SystemCalls

extension WorkerChannel {
    /// The channel at descriptor 3, if the daemon has left one there. From here on this process ends with the daemon,
    /// even if the thread that reads the channel hangs.
    public static func inherited() -> WorkerChannel? {
        var status = stat()
        guard fstat(workerDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        _ = fcntl(workerDescriptor, F_SETFD, FD_CLOEXEC)
        ChildProgram.endWithParent()
        // A daemon that ended before this has closed its end.
        var end = pollfd(fd: workerDescriptor, events: 0, revents: 0)
        if poll(&end, 1, 0) > 0, end.revents & Int16(POLLHUP) != 0 { _exit(0) }
        return WorkerChannel(Descriptor(owning: workerDescriptor))
    }
}
