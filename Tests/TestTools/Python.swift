/// Debian's Python, with which tests change a ledger behind the daemon's back.
public enum Python {
    /// Runs a script that needs only the standard library. Isolated, Python starts several times as fast as with the
    /// packages of the machine.
    public static func run(_ script: String, _ arguments: String...) async throws -> Outcome {
        await (try ChildProcess("/usr/bin/python3", ["-I", "-S", "-c", script] + arguments)).outcome()
    }
}
