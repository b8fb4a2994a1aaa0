import DaemonRuntime
import Foundation
import JobLedger
import PipelineModel
import SystemCalls
import TestTools
import WorkerPools

@testable import PipelineDaemon

/// The owners of a daemon in a folder of its own, before it begins. Nothing is rendered: the queue `render` has no place.
struct OwnersFixture: Sendable {
    let owners: Owners
    let ledger: Ledger
    let places: Places
    private let chain: Chain

    static func with(_ settings: String = "", _ body: (OwnersFixture) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let places = Places.below(folder)
            try places.make()
            let file = ConfigurationText(name: "test.conf", text: "[Queues]\nRender=0\n" + settings)
            let configuration = Configuration.load(settings: [file], recipes: [], catalog: .builtIn).configuration
            let loaded = LoadedConfiguration(configuration: configuration, catalog: .builtIn, skipped: [], missing: [])
            let chain = try Chain(parsing: "save", catalog: .builtIn)
            let (ledger, staging) = (try Ledger(path: places.ledger), try Staging(places))
            let owners = Coordination.sync {
                Owners(
                    loaded, places: places, ledger: ledger, staging: staging,
                    pool: WorkerPool(program: "/none", resources: []),
                    plugins: PluginShelf(folder: places.pluginCopies, sources: []), fetch: FetchPool(program: "/none"))
            }
            try await body(OwnersFixture(owners: owners, ledger: ledger, places: places, chain: chain))
        }
    }

    func job(_ id: Int, _ state: JobState = .queued, priority: Priority = .normal) -> JobRecord {
        let order = WorkOrder(
            recipe: "r", adHoc: false,
            outputs: [RecipeOutput(name: nil, chain: chain)],
            original: .archive, conflict: .number, outbox: "\(places.outbox)/r", inbox: "\(places.inbox)/r")
        return JobRecord(
            id: id, position: id, batch: nil, order: order, path: "\(id).png", origin: .spooled,
            source: "\(places.spool)/\(id)/\(id).png",
            file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: state, created: 1000,
            priority: priority.rank)
    }

    func count(_ state: JobState) -> Int { Coordination.sync { owners.counts[state] } }

    func insert(_ jobs: [JobRecord]) -> Bool {
        ledger.insert(jobs)
        for job in jobs where job.hold != nil { ledger.record(job) }
        Coordination.sync { for job in jobs { owners.counts.add(to: job.state) } }
        return ledger.flush(seconds: 30)
    }

    /// Returns when everything that the ledger has been given is recorded, and has been told on the coordination queue.
    func settle() async {
        _ = ledger.flush(seconds: 30)
        await withCheckedContinuation { continuation in Coordination.async { continuation.resume() } }
    }
}
