import CLinux
import CSeccomp
import Glibc
import WorkerProtocol

/// A system call, and optional conditions on its arguments.
public struct CallRule: Sendable {
    public enum Condition: Sendable {
        /// The argument at this index has this value.
        case equal(UInt32, Int32)
        case different(UInt32, Int32)
        /// The bits of the argument that `mask` selects have this value.
        case bits(UInt32, mask: Int32, Int32)
    }

    let name: String
    let conditions: [Condition]

    public init(_ name: String, _ conditions: Condition...) {
        (self.name, self.conditions) = (name, conditions)
    }
}

/// The lists of calls. Traces with strace have shown which component needs which call.
extension CallRule {
    /// Additional calls for workers that connect to servers, including through TLS. These workers can create Internet
    /// sockets only.
    public static let ofConnectingWorkers =
        [
            // OpenSSL checks whether the process is setuid; the resolver asks for the host name.
            "getuid", "geteuid", "getgid", "getegid", "uname",
        ].map { CallRule($0) }
        + [
            CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_STREAM.rawValue))),
            CallRule("socket", .equal(0, AF_INET6), .bits(1, mask: 0xf, Int32(SOCK_DGRAM.rawValue))),
            // Memory can't be mapped as executable, so no code can be loaded.
            CallRule("mmap", .bits(2, mask: PROT_EXEC, 0)),
            CallRule("mprotect", .bits(2, mask: PROT_EXEC, 0)),
        ]

    /// Calls for every worker.
    public static let ofEveryWorker =
        [
            // For files, sockets, and descriptors that libraries open.
            "read", "write", "close",
            // For `fstat`: glibc uses either of the two calls. With `newfstatat`, a worker could also read the size of
            // a file by its path.
            "fstat", "newfstatat",
            // For malloc, and for the stacks of threads.
            "munmap", "mremap", "madvise", "brk",
            // For threads and locks.
            "futex", "set_robust_list", "rseq", "sched_yield", "gettid", "exit",
            // For signal masks: glibc starts threads with all signals blocked. The trap's handler returns through
            // `rt_sigreturn`.
            "rt_sigprocmask", "rt_sigaction", "rt_sigreturn",
            // For glibc's `abort`, which writes a last message, and for the exit after the socket was closed.
            "getpid", "writev", "exit_group",
            // For clocks that the vDSO does not provide, and for waits. `restart_syscall` continues a wait after
            // SIGSTOP.
            "clock_gettime", "clock_nanosleep", "restart_syscall",
            // For the random seeds of Swift's hashing and of malloc.
            "getrandom",
        ].map { CallRule($0) } + [
            // Allows new threads, but no new processes.
            CallRule("clone", .bits(0, mask: CLONE_THREAD, CLONE_THREAD)),
            // For `abort`, which signals its own thread.
            CallRule("tgkill", .equal(0, getpid())),
            // For the names of threads.
            CallRule("prctl", .equal(0, PR_SET_NAME)),
            CallRule("prctl", .equal(0, PR_GET_NAME)),
        ]

    /// Calls for the channel to the supervisor.
    public static let ofTheChannel = ["recvmsg", "sendmsg"].map {
        CallRule($0, .equal(0, WorkerChannel.workerDescriptor))
    }

    /// Allows the `openat` that the trap's handler makes. When the worker opens a file for reading, the handler repeats
    /// the call itself, and so learns which files Landlock denies.
    static let ofTheTrap = CallRule(
        "openat", .equal(2, clinux_for_reading()), .equal(5, Int32(CLINUX_FROM_TRAP)))

    /// Calls that fail as if the kernel lacked them. Without `clone3`, glibc starts threads with `clone`, whose flags a
    /// filter can check. `clone3` gets its flags in memory, where a filter can't see them.
    static let unknown = [CallRule("clone3")]

    /// Calls that no worker has a reason to make. If a process makes such a call, an attacker has probably taken it
    /// over, so the kernel kills the process at once. Calls that a library might make in good faith are not in this
    /// list.
    public static let deadly =
        [
            // Start other programs, or access other processes.
            "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
            // Send signals to other processes.
            "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
            // Accept connections.
            "listen", "accept", "accept4",
            // Bypass the filter, or expose risky parts of the kernel.
            "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "perf_event_open",
            "open_by_handle_at", "keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
            // Change the view of the file system.
            "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen",
        ].map { CallRule($0) } + [
            CallRule("clone", .bits(0, mask: CLONE_THREAD, 0)),
            CallRule("tgkill", .different(0, getpid())),
        ]
}
