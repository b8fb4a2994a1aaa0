/// A program that competes in a race. It begins each job once, and then does rounds in turn with the other contenders.
protocol Contender: AnyObject {
    var name: String { get }
    /// Whether its processes keep running between rounds, so that a first round warms them up.
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
