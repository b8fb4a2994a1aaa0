import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import FleetSharing
import InboxWatching
import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
package import PipelineModel
package import WorkerProtocol

extension Owners: DaemonInterface {}

// MARK: - Configuration

extension Owners {
    package nonisolated var configurationInForce: Configuration { configuration.now.configuration }
    package nonisolated var catalog: StageCatalog { configuration.now.catalog }
    package nonisolated var skippedPlugins: [SkippedPlugin] { configuration.now.skipped }

    package nonisolated var ownFolders: DaemonFolders {
        let places = configuration.places
        return DaemonFolders(
            data: places.data, state: places.state, recipes: places.recipes, staging: Staging.folderName)
    }

    package nonisolated func order(for recipe: Recipe) -> WorkOrder { configuration.order(for: recipe) }

    package nonisolated func order(for chain: Chain) -> WorkOrder {
        configuration.now.order(for: chain, configuration.places)
    }

    package func settingRows() -> [SettingRow] {
        configuration.settings.rows.map { row in
            guard row.section == "Queues", let live = limits.live(of: row.key.lowercased()) else { return row }
            var row = row
            (row.value, row.source) = ("\(live.limit)", live.isSaved ? configuration.places.saved : "pipectl")
            return row
        }
    }

    package func recipeReports() -> [RecipeReport] {
        let current = configuration.now.configuration
        return (current.recipes + current.held.map(\.recipe)).sorted { $0.name < $1.name }.map { recipe in
            RecipeReport(
                recipe: recipe, order: order(for: recipe),
                problem: current.held(recipe.name)?.reason ?? inboxes.inbox(of: recipe.name)?.report.whyNothing,
                hookFailures: hooks.report(of: recipe.name).failures)
        }
    }

    package func shortage(ofFilter name: String) -> String? { shortages[.filter(name)]?.reason }

    package func reload(asTrial isTrial: Bool, _ done: @escaping @Coordination @Sendable (Reloaded) -> Void) {
        reloads.reload(asTrial: isTrial, done)
    }
}

// MARK: - Queues and fleet

extension Owners {
    package func queueReports() -> [QueueReport] { queueReports(queuedCounts()) }

    func queueReports(_ queued: [FirstQueue: Int]) -> [QueueReport] {
        limits.lookAtProcessors()
        return queues.all.map { queue in
            let report = queue.report
            let waiting =
                switch queue.name {
                case queues.download.name: queued[.download] ?? 0
                case queues.render.name:
                    (queued[.render] ?? 0)
                        + jobs.all.count { $0.download?.state == .finished && !$0.render.hasBegun }
                case queues.publish.name:
                    jobs.all.count { $0.render.image != nil && $0.publish?.hasBegun == false }
                default: jobs.all.count { $0.publish?.state == .finished && $0.announce?.hasBegun == false }
                }
            return QueueReport(
                name: queue.name, configured: report.configured, effective: report.effective, running: report.running,
                waiting: waiting, isPaused: report.paused, reason: report.reason, automatic: queue.automaticCount)
        }
    }

    /// Number of queued jobs by the first queue of each job. If the ledger can't be read, all of them count for
    /// `render`, and the status reports the error as a problem.
    func queuedCounts() -> [FirstQueue: Int] {
        let all = max(0, jobs.counts[.queued])
        let downloads = all == 0 ? 0 : (try? ledger.queuedDownloads(among: all)) ?? 0
        return [.download: downloads, .render: all - downloads]
    }

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
}

// MARK: - Files and rows of ended jobs

extension Owners {
    package func clean(
        _ wishes: [CleanWish], done: @escaping @Sendable (Result<[CleanOutcome], any Error>) -> Void
    ) {
        keeping.clean(wishes, done: done)
    }

    package func forget(
        _ choice: JobChoice, endedBefore time: Double,
        done: @escaping @Sendable (_ forgotten: Int, _ left: Int) -> Void
    ) throws {
        let left = try ledger.unforgettable(choice, endedBefore: time)
        jobs.forget(choice, endedBefore: time) { done($0, left) }
    }

    package nonisolated var unwritableReason: String? { ledger.unwritableReason }

    package nonisolated func tryWriting(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void) {
        ledger.whenTried(done)
    }
}
