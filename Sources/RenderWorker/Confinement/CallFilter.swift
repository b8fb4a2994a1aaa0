import CLinux
import CSeccomp
import Glibc

/// System calls, by seccomp: those of a short list pass, some end the process, all others fail and are remembered.
enum CallFilter {
    static func install() throws {
        // Before the filter, which allows it, and for what it traps.
        guard clinux_trap_calls(EACCES) == 0 else { throw WallError(errno) }
        guard let filter = seccomp_init(SCMP_ACT_TRAP) else { throw WallError("libseccomp does not start") }
        defer { seccomp_release(filter) }
        // Calls in another machine's numbers.
        try set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS)
        try set(filter, SCMP_FLTATR_CTL_TSYNC, 1)
        try set(filter, SCMP_FLTATR_API_SYSRAWRC, 1)
        for (action, rules) in [
            (SCMP_ACT_ALLOW, CallRule.allowed), (cseccomp_errno(UInt16(ENOSYS)), CallRule.unknown),
            (SCMP_ACT_KILL_PROCESS, CallRule.deadly),
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
        // A call that this machine does not have, or that libseccomp does not know yet, falls under "all others".
        guard number >= 0 else { return }
        try check(seccomp_rule_add_array(filter, action, number, UInt32(rule.conditions.count), rule.conditions))
    }

    private static func check(_ result: Int32) throws {
        guard result == 0 else { throw WallError(-result) }
    }
}
