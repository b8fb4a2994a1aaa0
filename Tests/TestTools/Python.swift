/// Debian's Python. Tests use it, for example, to change a ledger without the daemon's knowledge.
public enum Python {
    /// Runs a script that needs only the standard library. In isolated mode, without the installed packages, Python
    /// starts several times as fast.
    public static func run(_ script: String, _ arguments: String...) async throws -> Outcome {
        await (try ChildProcess("/usr/bin/python3", ["-I", "-S", "-c", script] + arguments)).outcome()
    }
}
