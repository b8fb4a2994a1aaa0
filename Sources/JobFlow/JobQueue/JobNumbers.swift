/// Allocates the numbers of jobs and batches, and the positions in the queue.
struct JobNumbers {
    private var nextID = 1
    private var nextPosition = 1
    private var nextBatch = 1

    /// The newest job's number.
    var lastID: Int { nextID - 1 }

    mutating func begin(after highest: (id: Int, position: Int, batch: Int)) {
        (nextID, nextPosition, nextBatch) = (highest.id + 1, highest.position + 1, highest.batch + 1)
    }

    /// Allocates `count` job numbers and `count` positions at the end of the queue. Returns the first number and the
    /// first position.
    mutating func takeJobs(_ count: Int = 1) -> (id: Int, position: Int) {
        defer { nextID += count }
        return (nextID, takePositions(count))
    }

    /// Allocates `count` positions at the end of the queue. Returns the first position.
    mutating func takePositions(_ count: Int = 1) -> Int {
        defer { nextPosition += count }
        return nextPosition
    }

    mutating func takeBatch() -> Int {
        defer { nextBatch += 1 }
        return nextBatch
    }

    func knows(batch: Int) -> Bool { (1..<nextBatch).contains(batch) }
}
