import CLinux
import CSeccomp
import Glibc

/// A system call that the filter of calls has refused.
public struct RefusedCall: CustomStringConvertible {
    public let description: String

    /// The first since `forget`, of those that tell something.
    public static var first: RefusedCall? {
        var path: UnsafePointer<CChar>?
        for index in 0... {
            let number = clinux_trapped_call(index, &path)
            guard number >= 0 else { break }
            let path = path.map { String(cString: $0) } ?? ""
            if !isHarmless(path) { return RefusedCall(number, path) }
        }
        return nil
    }

    public static func forget() { clinux_forget_trapped_calls() }

    private init(_ number: Int32, _ path: String) {
        guard path.isEmpty else {
            description = "to open \(path)"
            return
        }
        let name = seccomp_syscall_resolve_num_arch(UInt32(SCMP_ARCH_NATIVE), number)
        defer { free(name) }
        description = "the system call \(name.map { String(cString: $0) } ?? "\(number)")"
    }

    /// What libraries try of their own accord, and do as well without.
    private static func isHarmless(_ path: String) -> Bool {
        // glibc's malloc, before it gives memory back, and orc, before it takes anonymous memory.
        path == "/proc/sys/vm/overcommit_memory" || path.contains("/orcexec.")
            // fontconfig, to lock caches that it goes on without.
            || (path.contains("fontconfig/") && path.contains(".cache-"))
    }
}
