/// Debian's Python, for what tests do to a ledger past the daemon.
public enum Python {
    /// Runs a script that needs nothing but the standard library. So isolated, Python starts several times as fast as with
    /// what a machine may have added to it.
    public static func run(_ script: String, _ arguments: String...) async throws -> Outcome {
        await (try ChildProcess("/usr/bin/python3", ["-I", "-S", "-c", script] + arguments)).outcome()
    }
}
