package import JobLedger
import WorkerPools

extension JobRecord {
    /// Its results are in the outbox, and nothing of its earlier troubles matters any more.
    package mutating func conclude(_ outcome: Publisher.Outcome) {
        outputs = outcome.published.map(\.file)
        // After a crash nothing is known of them but their places.
        story?.after = outcome.published.compactMap(\.picture)
        (intent, former) = (nil, nil)
        (error, advice, failure) = (nil, nil, nil)
        if let stay = outcome.left.saidToStay { reason = stay }
    }
}
