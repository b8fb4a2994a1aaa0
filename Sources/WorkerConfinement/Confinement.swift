import CLinux
import Glibc
import SystemCalls

/// Confines a worker to its descriptors and the exceptions in `Walls`.
///
/// The walls go up once, before the first foreign byte, while a single thread runs, and never come down.
public enum Confinement {
    /// Returns the walls that the kernel lacks, each with the reason; empty if every wall stands.
    public static func begin(_ walls: Walls) -> [String] {
        var walls = walls
        // Formatting a time reads a file that can't be opened later.
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

    /// How the entry of a missing Landlock begins.
    public static let landlock = "Landlock"

    /// The supervisor limits memory. RLIMIT_NPROC would count all threads of the user, wherever they run, and hit other
    /// programs; the call filter allows no processes at all.
    private static func setLimits(_ walls: Walls) {
        set(RLIMIT_NOFILE, rlim_t(walls.descriptors))
        // A core dump would expose a picture's memory.
        set(RLIMIT_CORE, 0)
        // The supervisor limits the size of files. A write beyond the limit must fail like any other.
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func set(_ resource: __rlimit_resource, _ most: rlim_t) {
        var limit = rlimit()
        guard getrlimit(resource.number, &limit) == 0 else { return }
        limit = rlimit(rlim_cur: min(limit.rlim_cur, most), rlim_max: min(limit.rlim_max, most))
        setrlimit(resource.number, &limit)
    }

    /// Makes the kernel kill a worker before the supervisor when memory is short. The worker inherits the supervisor's
    /// score.
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
