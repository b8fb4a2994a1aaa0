import Glibc
import SystemCalls

extension WorkerChannel {
    /// The channel at descriptor 3, if the daemon has passed one to this process. From this call on, the kernel ends
    /// this process when the daemon ends, even if the thread that reads the channel hangs.
    public static func inherited() -> WorkerChannel? {
        var status = stat()
        guard fstat(workerDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        _ = fcntl(workerDescriptor, F_SETFD, FD_CLOEXEC)
        ChildProgram.endWithParent()
        // If the daemon ended before the previous call, its end of the channel is closed.
        var end = pollfd(fd: workerDescriptor, events: 0, revents: 0)
        if poll(&end, 1, 0) > 0, end.revents & Int16(POLLHUP) != 0 { _exit(0) }
        return WorkerChannel(Descriptor(owning: workerDescriptor))
    }
}
