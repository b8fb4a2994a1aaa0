import CLinux
import CSeccomp
import Glibc

/// Filters system calls with seccomp. A rule allows a call, makes it fail, or makes it kill the process. A call that
/// matches no rule is trapped: it fails and is recorded.
enum CallFilter {
    static func install(_ walls: Walls) throws {
        // The signal handler must be installed before the filter, because a trap without a handler would kill the
        // process.
        let opens = !walls.opening.isEmpty
        guard clinux_trap_calls(EACCES, opens ? 1 : 0) == 0 else { throw WallError(errno) }
        guard let filter = seccomp_init(SCMP_ACT_TRAP) else { throw WallError("libseccomp does not start") }
        defer { seccomp_release(filter) }
        // Kills the process if it uses the system call numbers of another architecture, such as 32-bit x86.
        try set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)
        try set(filter, SCMP_FLTATR_CTL_TSYNC, 1)
        try set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
        for (action, rules) in [
            (SCMP_ACT_ALLOW, walls.allowed + walls.opening + (opens ? [CallRule.ofTheTrap] : [])),
            (cseccomp_errno(UInt16(ENOSYS)), CallRule.unknown),
            (cseccomp_errno(UInt16(EACCES)), walls.refused), (SCMP_ACT_KILL_PROCESS, walls.deadly),
        ] {
            for rule in rules { try add(rule, action, to: filter) }
        }
        try check(seccomp_load(filter))
    }

    private static func set(_ filter: scmp_filter_ctx, _ attribute: scmp_filter_attr, _ value: UInt32) throws {
        try check(seccomp_attr_set(filter, attribute, value))
    }

    private static func add(_ rule: CallRule, _ action: UInt32, to filter: scmp_filter_ctx) throws {
        let number = seccomp_syscall_resolve_name(rule.name)
        // If this machine or libseccomp doesn't know the call, adds no rule for it, so the call is trapped by default.
        guard number >= 0 else { return }
        let conditions = rule.conditions.map(\.comparison)
        try check(seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions))
    }

    private static func check(_ result: Int32) throws {
        switch -result {
        case 0: return
        // libseccomp first probes the call `seccomp`. If the container forbids that call, libseccomp reports our flags
        // as invalid.
        case EINVAL, EOPNOTSUPP, EPERM:
            throw WallError(
                "the kernel or the container's seccomp profile refuses it; allow the calls seccomp and prctl")
        case let code: throw WallError(code)
        }
    }
}

extension CallRule.Condition {
    /// The rule's comparison for libseccomp. The filter compares arguments as 64-bit registers, so a negative `Int32`
    /// must not be sign-extended.
    fileprivate var comparison: scmp_arg_cmp {
        func comparison(_ argument: UInt32, _ how: scmp_compare, _ first: Int32, _ second: Int32 = 0) -> scmp_arg_cmp {
            scmp_arg_cmp(
                arg: argument, op: how, datum_a: UInt64(UInt32(bitPattern: first)),
                datum_b: UInt64(UInt32(bitPattern: second)))
        }
        return switch self {
        case .equal(let argument, let value): comparison(argument, SCMP_CMP_EQ, value)
        case .different(let argument, let value): comparison(argument, SCMP_CMP_NE, value)
        case .bits(let argument, let mask, let bits): comparison(argument, SCMP_CMP_MASKED_EQ, mask, bits)
        }
    }
}
