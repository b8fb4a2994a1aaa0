/// The next numbers of a job and a batch, and the next position in the queue.
struct JobNumbers {
    private var nextID = 1
    private var nextPosition = 1
    private var nextBatch = 1

    /// The newest job's number.
    var lastID: Int { nextID - 1 }

    mutating func begin(after highest: (id: Int, position: Int, batch: Int)) {
        (nextID, nextPosition, nextBatch) = (highest.id + 1, highest.position + 1, highest.batch + 1)
    }

    /// Returns the first of `count` job numbers, and the first of as many positions at the end of the queue.
    mutating func takeJobs(_ count: Int = 1) -> (id: Int, position: Int) {
        defer { nextID += count }
        return (nextID, takePositions(count))
    }

    /// Returns the first of `count` positions at the end of the queue.
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
