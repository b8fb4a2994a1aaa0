import CLinux
import CSeccomp
import Glibc

/// Filters system calls with seccomp: a short list passes, some end the process, and all others fail and are
/// remembered.
enum CallFilter {
    static func install(_ walls: Walls) throws {
        // The handler must be set before the filter: without a handler, a trap would end the process.
        let opens = !walls.opening.isEmpty
        guard clinux_trap_calls(EACCES, opens ? 1 : 0) == 0 else { throw WallError(errno) }
        guard let filter = seccomp_init(SCMP_ACT_TRAP) else { throw WallError("libseccomp does not start") }
        defer { seccomp_release(filter) }
        // Calls by another architecture's numbers end the process.
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
        // A call that this machine lacks, or that libseccomp does not know yet, is treated like all others.
        guard number >= 0 else { return }
        let conditions = rule.conditions.map(\.comparison)
        try check(seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions))
    }

    private static func check(_ result: Int32) throws {
        switch -result {
        case 0: return
        // libseccomp probes the call first. If the call is refused, libseccomp reports our flags as invalid.
        case EINVAL, EOPNOTSUPP, EPERM:
            throw WallError(
                "the kernel or the container's seccomp profile refuses it; allow the calls seccomp and prctl")
        case let code: throw WallError(code)
        }
    }
}

extension CallRule.Condition {
    /// The filter compares arguments as the 64 bits of a register.
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
