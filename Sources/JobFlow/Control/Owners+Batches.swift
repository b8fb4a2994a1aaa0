package import DaemonInterface
import DaemonRuntime
import InboxWatching
import JobLedger
package import JobModel
package import PipelineModel
package import SystemCalls

// MARK: - Batches

extension Owners {
    package func openBatch(named name: String?, done: @escaping @Sendable (Int) -> Void) -> Int {
        let batch = jobs.takeBatch()
        ledger.open(batch: batch, name: name) { done(batch) }
        return batch
    }

    package nonisolated func closeBatch(_ batch: Int, done: (@Sendable () -> Void)?) {
        ledger.close(batch: batch, done: done)
    }

    package func knows(batch: Int) -> Bool { jobs.knows(batch: batch) }

    package func expectBatch(ofFolder folder: String, done: @escaping @Sendable () -> Void) {
        folders.expect(folder, done: done)
    }

    package nonisolated func batches(
        named name: String?, newest: Int?, after id: Int, limit: Int
    ) throws -> [BatchRecord] {
        try ledger.batches(named: name, newest: newest, after: id, limit: limit)
    }

    package nonisolated func findBatch(_ word: String) throws -> (batch: BatchRecord, others: Int)? {
        try ledger.find(batch: word)
    }

    package nonisolated func batchNames(limit: Int) throws -> [String] { try ledger.batchNames(limit: limit) }
}

// MARK: - Adding

extension Owners {
    package var isStopping: Bool { shutdown.isStopping }

    package func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, AddingFailure>) -> Void) {
        intake.makeFile(bytes: bytes, done: done)
    }

    package nonisolated func add(
        _ file: Descriptor, _ wish: AddedFile, done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void
    ) {
        intake.add(file, wish, done: done)
    }

    package nonisolated func add(
        list file: Descriptor, _ wish: AddedList, done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void
    ) {
        intake.add(list: file, wish, done: done)
    }

    package nonisolated func reasonForLeaving(_ name: String, by recipe: Recipe) -> String? {
        FileNames.reasonForLeaving(name, recipe)
    }
}

// MARK: - Watching

extension Owners {
    package nonisolated var cursor: Int { ledger.cursor }

    package nonisolated func events(
        after cursor: Int, limit: Int
    ) throws -> [(event: LoggedEvent, job: JobRecord?, batch: BatchRecord?)] {
        try ledger.events(after: cursor, limit: limit)
    }

    package func wait(for jobs: JobGroup, _ waiter: Waiter) {
        switch jobs {
        case .all: waiters.waitForAll(waiter)
        case .batch(let batch): waiters.wait(forBatch: batch, waiter)
        case .these(let ids): waiters.wait(for: ids, waiter)
        }
    }

    package func dropWaiters() { waiters.check() }
}
