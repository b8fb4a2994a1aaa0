/// A contender does jobs. It begins once per job, then does rounds in turn with the others.
protocol Contender: AnyObject {
    var name: String { get }
    /// Whether its process stays, so that the first round warms it up.
    var stays: Bool { get }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws
    func round() throws -> Sample
    func end()
}

/// The reason why a measurement can't be made, in one line that says what to do.
struct BenchError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
