/// Whoever does jobs. It is begun once for a job, and does rounds in turn with the others.
protocol Contender: AnyObject {
    var name: String { get }
    /// Whether it is a process that stays, so that its first round warms it up.
    var stays: Bool { get }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws
    func round() throws -> Sample
    func end()
}

/// Why a measurement can't be made: one line, which says what to do.
struct BenchError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
