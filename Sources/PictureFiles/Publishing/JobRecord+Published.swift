package import JobModel
import WorkerPools

extension JobRecord {
    /// Records the published results, and clears the intent and all earlier failures.
    package mutating func conclude(_ outcome: Publisher.Outcome) {
        outputs = outcome.published.map(\.file)
        // After a crash, the outcome contains only the results' paths, and `picture` is nil.
        story?.after = outcome.published.compactMap(\.picture)
        (intent, former) = (nil, nil)
        (error, advice, failure) = (nil, nil, nil)
        if let stay = outcome.left.saidToStay { reason = stay }
    }
}
