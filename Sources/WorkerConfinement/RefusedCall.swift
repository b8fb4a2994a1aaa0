import CLinux
import CSeccomp
import Glibc

public struct RefusedCall: CustomStringConvertible {
    public let description: String

    /// The first refused call since `forget`, except harmless calls.
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

    private static let fonts = ["/usr/share/fonts/", "/usr/local/share/fonts/"]

    /// Whether libraries try to open this path on their own, and work without it.
    private static func isHarmless(_ path: String) -> Bool {
        // glibc's malloc reads the first path before it returns memory to the kernel. orc tries the second path before
        // it falls back to anonymous memory.
        path == "/proc/sys/vm/overcommit_memory" || path.contains("/orcexec.")
            // fontconfig tries to lock its caches, and works without the lock.
            || (path.contains("fontconfig/") && path.contains(".cache-"))
            // fontconfig skips a folder or font that it can't open, such as poppler-data's links to another folder.
            || (fonts.contains { path.hasPrefix($0) } && !path.contains("/.."))
    }
}
