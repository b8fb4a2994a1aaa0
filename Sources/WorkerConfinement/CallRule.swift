import CLinux
import CSeccomp
import Glibc
import WorkerProtocol

/// A system call, and its arguments where these decide.
public struct CallRule: Sendable {
    public enum Condition: Sendable {
        /// The argument at this index is so.
        case equal(UInt32, Int32)
        case different(UInt32, Int32)
        /// Of the bits in the mask the argument has these.
        case bits(UInt32, mask: Int32, Int32)
    }

    let name: String
    let conditions: [Condition]

    public init(_ name: String, _ conditions: Condition...) {
        self.name = name
        self.conditions = conditions
    }
}

/// Who needs which call was measured with strace.
extension CallRule {
    /// What any process of ours does.
    public static let ofEveryWorker =
        [
            // Files, and libraries' own descriptors.
            "read", "write", "close",
            // Their sizes; glibc takes one or the other for fstat. A path's can be asked in the same way.
            "fstat", "newfstatat",
            // malloc, threads' stacks.
            "munmap", "mremap", "madvise", "brk",
            // Threads and locks.
            "futex", "set_robust_list", "rseq", "sched_yield", "gettid", "exit",
            // Signals: threads are started with all of them blocked, a trapped call returns from its handler.
            "rt_sigprocmask", "rt_sigaction", "rt_sigreturn",
            // glibc's abort, with its last words. The process ends when its socket closes.
            "getpid", "writev", "exit_group",
            // Where the kernel's page of functions has no clock; waiting, also after a SIGSTOP.
            "clock_gettime", "clock_nanosleep", "restart_syscall",
            // Swift's hashing and malloc begin with a random number.
            "getrandom",
        ].map { CallRule($0) } + [
            // Threads, not processes.
            CallRule("clone", .bits(0, mask: CLONE_THREAD, CLONE_THREAD)),
            // abort.
            CallRule("tgkill", .equal(0, getpid())),
            // Threads have names.
            CallRule("prctl", .equal(0, PR_SET_NAME)),
            CallRule("prctl", .equal(0, PR_GET_NAME)),
        ]

    /// The supervisor's messages.
    public static let ofTheChannel = ["recvmsg", "sendmsg"].map {
        CallRule($0, .equal(0, WorkerChannel.workerDescriptor))
    }

    /// Files for reading are opened where calls are trapped, so that whoever tries for one that Landlock keeps shut is known.
    static let ofTheTrap = CallRule(
        "openat", .equal(2, clinux_for_reading()), .equal(5, Int32(CLINUX_FROM_TRAP)))

    /// glibc then starts its threads with clone, whose flags a filter can see.
    static let unknown = [CallRule("clone3")]

    /// No worker has any business here: whoever comes has taken it over, and gets no second try. What a library might try in good
    /// faith, and do without, is no call of this list.
    public static let deadly =
        [
            // Other programs and processes.
            "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
            // Signals to others.
            "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
            // To be connected to.
            "listen", "accept", "accept4",
            // Ways around a filter of calls, and into the kernel.
            "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "perf_event_open",
            "open_by_handle_at", "keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
            // Other views of the file system.
            "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen",
        ].map { CallRule($0) } + [
            CallRule("clone", .bits(0, mask: CLONE_THREAD, 0)),
            CallRule("tgkill", .different(0, getpid())),
        ]
}
