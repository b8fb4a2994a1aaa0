/// A command that follows the daemon until some work is over: `wait`, `watch` or `drain`.
protocol Following {
    associatedtype Outcome
    /// Follows the work to its end.
    mutating func follow() throws -> Outcome
    /// Prints the last lines, which stay on the terminal.
    mutating func finish() throws
    /// The outcome if the command ends before the work is over. The work continues.
    func outcome(of end: EarlyEnd) throws -> Outcome
}

/// Why a command ends before the work that it follows is over.
enum EarlyEnd: String, Error {
    case timedOut = "TimedOut"
    case interrupted = "Interrupted"

    var code: ExitCode { self == .timedOut ? .timedOut : .interrupted }

    /// The failure with which the command ends. `words` says which command follows the work again.
    func failure(_ words: String) -> Failure { Failure(rawValue, words, code) }
}

extension Following {
    mutating func run() throws -> Outcome {
        do {
            let outcome = try follow()
            try finish()
            return outcome
        } catch let end as EarlyEnd {
            try finish()
            return try outcome(of: end)
        } catch {
            try? finish()
            throw error
        }
    }
}
