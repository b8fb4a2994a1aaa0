import JobLedger
import PipelineModel

/// A filter that takes worker after worker down, or hangs in them, would fail all pictures that come: after `CrashStrikes=` different ones in
/// a row the recipes that use it wait instead, until there is another version of it.
extension Supervisor {
    /// A job has failed inside this filter.
    func strike(_ filter: String, by job: Job) {
        strikes[filter, default: []].insert(job.record.path)
        let count = strikes[filter]?.count ?? 0
        guard count >= settings.crashStrikes, shortages[.filter(filter)] == nil else { return }
        begin(
            Shortage(
                reason: "\(Resource.filter(filter)) has crashed or hung with \(count) "
                    + (count == 1 ? "picture" : "pictures in a row"),
                need: .replacement),
            of: .filter(filter))
    }

    /// A picture has gone through all filters of its order.
    func acquit(_ order: WorkOrder) {
        guard !strikes.isEmpty else { return }
        strikes = strikes.filter { !order.outputs.uses(filter: $0.key) }
    }

    /// Plugins were loaded anew: each gets another chance.
    func forgiveFilters() {
        strikes = [:]
        for (resource, shortage) in shortages {
            if case .replacement = shortage.need { goOn(resource) }
        }
    }
}
