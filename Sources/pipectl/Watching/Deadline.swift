extension Option {
    static let wait = Option("--wait", short: "-w", "wait for the jobs, and print them as they end")
    static let timeout = Option(
        "--timeout", value: "TIME", "give up after so long (90s, 5min, 1h), with exit code 124; the jobs go on")
}

extension Invocation {
    /// Throws if `--timeout` is given without `--wait`: `--timeout` limits a wait, but does not start one.
    func checkWait() throws(Failure) {
        if has(.timeout), !has(.wait) { throw .usage("--timeout needs --wait") }
    }
}

/// The time at which `--timeout` ends a wait.
struct Deadline {
    private let time: Double?

    init(_ invocation: Invocation) throws(Failure) {
        time = try invocation.seconds(.timeout).map { Moment.now() + $0 }
    }

    var isOver: Bool { time.map { Moment.now() >= $0 } ?? false }

    /// The milliseconds that are left, or `other` if that is less; nil means to wait forever.
    func milliseconds(orBefore other: Int?) -> Int? {
        let left = time.map { Int(min(max(0, ($0 - Moment.now()) * 1000).rounded(.up), 1e9)) }
        return [left, other].compactMap(\.self).min()
    }
}
