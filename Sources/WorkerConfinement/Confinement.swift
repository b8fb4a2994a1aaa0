import CLinux
import Glibc
import SystemCalls

/// Confines a worker to its descriptors and the exceptions in `Walls`.
///
/// Call `begin` once, while only one thread runs and before any foreign byte is read. The confinement can't be undone.
public enum Confinement {
    /// Applies all parts of the confinement. Returns the parts that failed, each with the reason.
    public static func begin(_ walls: Walls) -> [String] {
        var walls = walls
        // Loads the time zone now, because its file can't be opened later.
        tzset()
        setLimits(walls)
        var missing: [String] = []
        func raise(_ wall: String, _ body: () throws -> Void) {
            do { try body() } catch { missing.append("\(wall) (\(error))") }
        }
        raise("oom_score_adj", dieFirst)
        raise("no_new_privs") {
            guard clinux_no_new_privileges() == 0 else { throw WallError(errno) }
        }
        raise(landlock) { try Landlock.begin(walls) }
        if missing.contains(where: { $0.hasPrefix(landlock) }) { walls.opening = [] }
        raise("seccomp") { try CallFilter.install(walls) }
        return missing
    }

    /// The first word of the entry that `begin` returns if Landlock is missing.
    public static let landlock = "Landlock"

    /// Sets resource limits. Does not limit memory, because the supervisor does. Does not set RLIMIT_NPROC either,
    /// because it would count all threads of the user, and affect other programs; the call filter forbids new processes
    /// anyway.
    private static func setLimits(_ walls: Walls) {
        set(RLIMIT_NOFILE, rlim_t(walls.descriptors))
        // A core dump would write parts of pictures to disk.
        set(RLIMIT_CORE, 0)
        // The supervisor limits the size of files. A write beyond the limit must return an error instead of raising a
        // signal.
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func set(_ resource: __rlimit_resource, _ most: rlim_t) {
        var limit = rlimit()
        guard getrlimit(resource.number, &limit) == 0 else { return }
        limit = rlimit(rlim_cur: min(limit.rlim_cur, most), rlim_max: min(limit.rlim_max, most))
        setrlimit(resource.number, &limit)
    }

    /// Makes the kernel kill a worker rather than the supervisor when memory runs out. A worker inherits the
    /// supervisor's score, so this method raises the worker's score by 500.
    private static func dieFirst() throws {
        let path = "/proc/self/oom_score_adj"
        var text = [UInt8](repeating: 0, count: 16)
        let file = try Descriptor.open(path, O_RDWR)
        let length = max(0, read(file.number, &text, text.count))
        let score = Int(String(decoding: text.prefix(length), as: UTF8.self).filter { !$0.isWhitespace }) ?? 0
        let raised = Array("\(min(1000, score + 500))".utf8)
        guard write(file.number, raised, raised.count) == raised.count else { throw SystemError("write", path) }
    }
}

extension __rlimit_resource {
    fileprivate var number: __rlimit_resource_t { __rlimit_resource_t(rawValue) }
}

struct WallError: Error, CustomStringConvertible {
    let description: String

    init(_ reason: String) { description = reason }

    init(_ code: Int32) { description = String(cString: strerror(code)) }
}
