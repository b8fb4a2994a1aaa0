import CLinux
import CSeccomp
import Glibc
import WorkerProtocol

/// A system call, and conditions on its arguments where they decide.
public struct CallRule: Sendable {
    public enum Condition: Sendable {
        /// The argument at this index has this value.
        case equal(UInt32, Int32)
        case different(UInt32, Int32)
        /// The argument's bits in the mask have this value.
        case bits(UInt32, mask: Int32, Int32)
    }

    let name: String
    let conditions: [Condition]

    public init(_ name: String, _ conditions: Condition...) {
        (self.name, self.conditions) = (name, conditions)
    }
}

/// Traces with strace have shown which part needs which call.
extension CallRule {
    /// Calls of workers that connect to servers, also through TLS. They can create Internet sockets only.
    public static let ofConnectingWorkers =
        [
            // OpenSSL checks whether it runs with another user's rights; the resolver asks for the machine's name.
            "getuid", "geteuid", "getgid", "getegid", "uname",
        ].map { CallRule($0) }
        + [
            CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
            // Mapped memory can't be made executable, so no code can be loaded this way.
            CallRule("mmap", .bits(2, mask: PROT_EXEC, 0)),
            CallRule("mprotect", .bits(2, mask: PROT_EXEC, 0)),
        ]

    /// Calls that every worker makes.
    public static let ofEveryWorker =
        [
            // Workers use files, and libraries' own descriptors.
            "read", "write", "close",
            // glibc uses one or the other for fstat. Both can also ask for a path's size.
            "fstat", "newfstatat",
            // malloc and threads' stacks need these.
            "munmap", "mremap", "madvise", "brk",
            // Threads and locks need these.
            "futex", "set_robust_list", "rseq", "sched_yield", "gettid", "exit",
            // Threads are started with all signals blocked, and a trapped call returns from its handler.
            "rt_sigprocmask", "rt_sigaction", "rt_sigreturn",
            // glibc's abort writes its last message. The process ends when its socket closes.
            "getpid", "writev", "exit_group",
            // The vDSO may lack a clock; restart_syscall continues a wait after SIGSTOP.
            "clock_gettime", "clock_nanosleep", "restart_syscall",
            // Swift's hashing and malloc begin with a random number.
            "getrandom",
        ].map { CallRule($0) } + [
            // Threads may be started, but no processes.
            CallRule("clone", .bits(0, mask: CLONE_THREAD, CLONE_THREAD)),
            // abort signals its own thread.
            CallRule("tgkill", .equal(0, getpid())),
            // Threads get names.
            CallRule("prctl", .equal(0, PR_SET_NAME)),
            CallRule("prctl", .equal(0, PR_GET_NAME)),
        ]

    /// The channel to the supervisor needs these.
    public static let ofTheChannel = ["recvmsg", "sendmsg"].map {
        CallRule($0, .equal(0, WorkerChannel.workerDescriptor))
    }

    /// Allows the openat of the trap. The trap repeats each opening for reading, to remember a file that Landlock
    /// denies.
    static let ofTheTrap = CallRule(
        "openat", .equal(2, clinux_for_reading()), .equal(5, Int32(CLINUX_FROM_TRAP)))

    /// Without clone3, glibc starts threads with clone, whose flags a filter can see.
    static let unknown = [CallRule("clone3")]

    /// No worker has a reason for these calls: a process that makes one has been taken over, and gets no second
    /// attempt. Calls that a library might make in good faith are not in this list.
    public static let deadly =
        [
            // These start other programs, or reach other processes.
            "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
            // These send signals to other processes.
            "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
            // These take connections.
            "listen", "accept", "accept4",
            // These bypass the filter, or lead into the kernel.
            "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "perf_event_open",
            "open_by_handle_at", "keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
            // These change the view of the file system.
            "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen",
        ].map { CallRule($0) } + [
            CallRule("clone", .bits(0, mask: CLONE_THREAD, 0)),
            CallRule("tgkill", .different(0, getpid())),
        ]
}
