import CSeccomp
import Glibc
import WorkerProtocol

/// A system call, and its arguments where these decide.
struct CallRule {
    let name: String
    let conditions: [scmp_arg_cmp]

    init(_ name: String, _ conditions: scmp_arg_cmp...) {
        self.name = name
        self.conditions = conditions
    }

    private static func argument(_ index: UInt32, _ comparison: scmp_compare, _ a: Int32, _ b: UInt64 = 0)
        -> scmp_arg_cmp
    {
        scmp_arg_cmp(arg: index, op: comparison, datum_a: UInt64(UInt32(bitPattern: a)), datum_b: b)
    }
}

/// Who needs which call was measured with strace, over every format read and written, whole and broken.
extension CallRule {
    static let allowed =
        [
            // Sources and targets of libvips, TurboJPEG's file, Foundation's JSON.
            "read", "write", "pread64", "lseek", "close", "dup",
            // Their sizes; glibc takes one or the other for fstat. A path's can be asked in the same way.
            "fstat", "newfstatat",
            // malloc, threads' stacks, mapped sources. Pages may become executable: orc, in libvips, makes vector code at run
            // time. Without such code a resize costs 1.7 times as much, a blur 3 times; forbidden to make it, orc aborts.
            "mmap", "munmap", "mremap", "mprotect", "madvise", "brk",
            // orc, around the temporary file that it tries for before it takes anonymous memory.
            "umask",
            // Threads and locks: libvips, glib, the encoders, Foundation. dav1d counts processors.
            "futex", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "gettid", "exit",
            // Signals: threads are started with all of them blocked, a trapped call returns from its handler.
            "rt_sigprocmask", "rt_sigaction", "rt_sigreturn",
            // glibc's abort, with its last words. The process ends when its socket closes.
            "getpid", "writev", "exit_group",
            // Where the kernel's page of functions has no clock; waiting, also after a SIGSTOP.
            "clock_gettime", "clock_nanosleep", "restart_syscall",
            // Swift's hashing and malloc begin with a random number.
            "getrandom",
            // glibc's qsort, by which libtiff sorts its tags, asks how much memory there is.
            "sysinfo",
        ].map { CallRule($0) } + [
            // The supervisor's messages.
            CallRule("recvmsg", argument(0, SCMP_CMP_EQ, WorkerChannel.workerDescriptor)),
            CallRule("sendmsg", argument(0, SCMP_CMP_EQ, WorkerChannel.workerDescriptor)),
            // Threads, not processes.
            CallRule("clone", argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, UInt64(CLONE_THREAD))),
            // abort.
            CallRule("tgkill", argument(0, SCMP_CMP_EQ, getpid())),
            // Threads have names.
            CallRule("prctl", argument(0, SCMP_CMP_EQ, PR_SET_NAME)),
            CallRule("prctl", argument(0, SCMP_CMP_EQ, PR_GET_NAME)),
        ]

    /// glibc then starts its threads with clone, whose flags a filter can see.
    static let unknown = [CallRule("clone3")]

    /// No codec and no filter has any business here: whoever comes has taken the worker over, and gets no second try. What a
    /// library might try in good faith, and do without, is no call of this list.
    static let deadly =
        [
            // Other programs and processes.
            "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
            // Signals to others.
            "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
            // Network, and sockets of any kind.
            "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
            // Ways around a filter of calls, and into the kernel.
            "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "userfaultfd", "perf_event_open",
            "open_by_handle_at", "keyctl", "add_key", "request_key", "init_module", "finit_module", "kexec_load",
            // Other views of the file system.
            "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "open_tree", "move_mount", "fsopen",
        ].map { CallRule($0) } + [
            CallRule("clone", argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)),
            CallRule("tgkill", argument(0, SCMP_CMP_NE, getpid())),
        ]
}
