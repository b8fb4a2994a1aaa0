import DaemonRuntime
import Foundation
import InboxWatching
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing
import WorkerPools

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

/// The owners of a daemon that has its own folder and has not started. Nothing is rendered, because the limit of the
/// queue `render` is 0.
struct OwnersFixture: Sendable {
    let owners: Owners
    let ledger: Ledger
    let places: Places
    private let chain: Chain

    /// Runs `body` with the owners. `recipe` is the text of an additional recipe named `r`. `program` is the path of
    /// the render worker.
    static func with(
        _ settings: String = "", recipe: String? = nil, program: String = "/none", plugins: [String] = [],
        _ body: (OwnersFixture) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let places = Places.below(folder)
            try places.make()
            let file = ConfigurationText(name: "test.conf", text: "[Queues]\nRender=0\n" + settings)
            let recipes = recipe.map { [ConfigurationText(name: "r.recipe", text: $0)] } ?? []
            let configuration = Configuration.load(settings: [file], recipes: recipes, catalog: .builtIn).configuration
            let loaded = LoadedConfiguration(configuration: configuration, catalog: .builtIn, skipped: [], missing: [])
            let chain = try Chain(parsing: "save", catalog: .builtIn)
            let (ledger, staging) = (try Ledger(path: places.ledger), try Staging(places))
            let owners = Coordination.sync {
                Owners(
                    loaded, places: places, ledger: ledger, staging: staging,
                    workers: Workers(
                        render: WorkerPool(program: program, resources: plugins), fetch: FetchPool(program: "/none"),
                        fleet: FleetPool { nil },
                        plugins: PluginGenerations(folder: places.pluginCopies, sources: plugins)),
                    hooks: Hooks(ledger: ledger, places: places) { _ in [] })
            }
            try await body(OwnersFixture(owners: owners, ledger: ledger, places: places, chain: chain))
            await owners.inboxes.stopped()
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

    /// Returns an ended job, and writes its original to `path` with these bytes.
    func ended(_ id: Int, _ state: JobState, at path: String, _ bytes: String = "picture") throws -> JobRecord {
        var job = job(id, state)
        (job.source, job.finished) = (path, 2000)
        try write(bytes, to: path)
        job.file = try FileSystem.status(path)?.identity ?? job.file
        return job
    }

    func write(_ text: String, to path: String) throws {
        try FileSystem.makeFolders(FileSystem.folder(of: path))
        try FileSystem.write(Array(text.utf8), to: path)
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    func count(_ state: JobState) -> Int { Coordination.sync { owners.jobs.counts[state] } }

    func insert(_ jobs: [JobRecord]) -> Bool {
        ledger.insert(jobs)
        for job in jobs where job.waitReason != nil { ledger.record(job) }
        Coordination.sync { for job in jobs { owners.jobs.add(1, to: job.state) } }
        return ledger.flush(seconds: 30)
    }

    /// Returns when the ledger has written all pending records and has reported them on the coordination queue.
    func settle() async {
        _ = ledger.flush(seconds: 30)
        await withCheckedContinuation { continuation in Coordination.async { continuation.resume() } }
    }

    /// Returns when the condition holds. Checks it after each `settle()`.
    func until(_ condition: @Coordination () throws -> Bool) async rethrows {
        while try !Coordination.sync(condition) { await settle() }
    }

    /// Returns the texts of the events of this kind, optionally only those about `job`.
    func texts(_ kind: String, of job: Int? = nil) throws -> [String] {
        #expect(ledger.flush(seconds: 30))
        return try ledger.events(after: 0, limit: 1000).filter {
            $0.event.kind == kind && (job == nil || $0.event.job == job)
        }
        .compactMap(\.event.text)
    }
}

extension Inboxes {
    /// Stops the inboxes; returns when all of them have stopped.
    func stopped() async {
        stop()
        for inbox in all {
            await withCheckedContinuation { continuation in inbox.afterwards { continuation.resume() } }
        }
    }
}
