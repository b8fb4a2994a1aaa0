import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import FleetSharing
import InboxWatching
import JobLedger
package import JobModel
import PictureFiles
package import PipelineModel
import Previewing
package import SystemCalls
package import WorkerProtocol

/// The calls of the daemon's interface that one owner answers alone. The other files of this folder contain the calls
/// that need several owners.
extension Owners: DaemonInterface {
    // MARK: - Configuration

    package nonisolated var configurationInForce: Configuration { configuration.now.configuration }
    package nonisolated var catalog: StageCatalog { configuration.now.catalog }
    package nonisolated var skippedPlugins: [SkippedPlugin] { configuration.now.skipped }
    package nonisolated func order(for recipe: Recipe) -> WorkOrder { configuration.order(for: recipe) }

    package nonisolated func order(for chain: Chain) -> WorkOrder {
        configuration.now.order(for: chain, configuration.places)
    }

    package func shortage(ofFilter name: String) -> String? { shortages[.filter(name)]?.reason }

    package func reload(asTrial isTrial: Bool, _ done: @escaping Done<Reloaded>) {
        reloads.reload(asTrial: isTrial, done)
    }

    // MARK: - Jobs

    package nonisolated func recordedJobs(_ ids: [Int]) throws -> [JobRecord] { try ledger.jobs(ids) }
    package nonisolated func unknown(of ids: [Int]) throws -> Int? { try ledger.unknown(of: ids) }

    package nonisolated func neighbours(of job: Int) throws -> (after: Neighbours, followers: Neighbours) {
        try ledger.neighbours(of: job)
    }

    package nonisolated func events(ofJob id: Int, limit: Int) throws -> [LoggedEvent] {
        try ledger.events(ofJob: id, limit: limit)
    }

    package nonisolated func knows(recipe: String) throws -> Bool { try ledger.knows(recipe: recipe) }

    package func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping Done<Int>) {
        changes.prioritise(choice, priority, done: done)
    }

    package func depend(
        _ id: Int, after others: [Int], remove: [Int], anyway: Bool, done: @escaping Done<NeedsAnswer>
    ) {
        changes.depend(id, after: others, remove: remove, anyway: anyway, done: done)
    }

    package nonisolated func hindered(
        of ids: [Int], bringingBack states: [JobState]
    ) throws -> (job: Int, after: Int, state: JobState?)? {
        try ledger.hindered(of: ids, bringingBack: states)
    }

    package func retry(
        _ records: [JobRecord], early: [Int]?, _ states: [JobState], of batch: Int?, done: @escaping Done<RetryOutcome>
    ) {
        revivals.revive(records, early: early, states, of: batch, done: done)
    }

    package func redo(_ choice: DoneChoice, asking: Bool, done: @escaping Done<DoneOutcome>) {
        doneJobs.redo(choice, asking: asking, done: done)
    }

    package func undo(_ choice: DoneChoice, to goal: String?, asking: Bool, done: @escaping Done<DoneOutcome>) {
        doneJobs.undo(choice, to: goal, asking: asking, done: done)
    }

    package func checkGoal(
        _ goal: String?, done: @escaping @Coordination @Sendable (_ place: String?, _ refusal: String?) -> Void
    ) {
        doneJobs.checkGoal(goal, done: done)
    }

    private nonisolated var unknownOriginals: UnknownOriginals {
        UnknownOriginals(ledger: ledger, archive: configuration.places.archive)
    }

    package nonisolated func archivePath(_ path: String) -> String { unknownOriginals.known(path) }
    package nonisolated func unknownOriginals(at path: String) throws -> Int { try unknownOriginals.count(at: path) }

    package func clean(_ wishes: [CleanWish], done: @escaping @Sendable (Result<[CleanOutcome], any Error>) -> Void) {
        keeping.clean(wishes, done: done)
    }

    // MARK: - Adding

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
        intake.expect(folder, done: done)
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

    package var isStopping: Bool { shutdown.isStopping }

    package func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, AddingFailure>) -> Void) {
        intake.makeFile(bytes: bytes, done: done)
    }

    package nonisolated func add(
        _ file: Descriptor, named name: String, in folder: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void
    ) {
        intake.add(file, named: name, in: folder, terms, done: done)
    }

    package nonisolated func add(
        list file: Descriptor, named name: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void
    ) {
        intake.add(list: file, named: name, terms, done: done)
    }

    package nonisolated func reasonForLeaving(_ name: String, by recipe: Recipe) -> String? {
        FileNames.reasonForLeaving(name, recipe)
    }

    // MARK: - Pictures

    package func tryChains(_ wish: TrialWish, done: @escaping Done<TrialOutcome>) -> Withdrawal {
        let trial = trials.begin(wish, done: done)
        return { trial.cancel() }
    }

    package func preview(
        _ result: Int?, of job: JobRecord, size: Int,
        done: @escaping @Sendable (Result<OpenedPicture, any Error>) -> Void
    ) -> Withdrawal {
        let wish = PreviewWish(job, result: result, size: size, answer: done)
        previews.ask(wish)
        return { [previews] in previews.withdraw(wish) }
    }

    package func lane(of result: Int?, of job: JobRecord) -> FileLane { pictures.lane(of: result, of: job) }

    package nonisolated func open(_ result: Int?, of job: JobRecord) throws -> OpenedPicture {
        let picture = try pictures.open(result, of: job)
        return (picture.name, picture.file)
    }

    // MARK: - Events, queues, the fleet and the ledger

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

    package var fleetReport: FleetReport? { fleet.report }

    package func command(
        _ nodes: [String], _ command: NodeCommand, by peer: String,
        done: @escaping @Coordination @Sendable ([(node: String, outcome: NodeOutcome)]) -> Void
    ) {
        fleet.command(nodes, command, by: peer, done: done)
    }

    package func check(
        _ nodes: [String], done: @escaping @Coordination ([String: NodeCheckOutcome]) -> Void
    ) -> Withdrawal {
        let check = fleet.check(nodes, done: done)
        return { check.cancel() }
    }

    package nonisolated var unwritableReason: String? { ledger.unwritableReason }

    package nonisolated func tryWriting(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void) {
        ledger.whenTried(done)
    }
}
