package import JobModel

/// The progress of one batch, or of all work.
package struct ProgressReport: Sendable {
    /// Finished work and its rate, counted in `unit`. Unknown values are nil.
    package struct Figures: Sendable {
        package var unit: String
        package var done: Int
        package var total: Int?
        package var fraction: Double?
        package var rate: Double?
        /// Seconds until the work is done.
        package var remaining: Double?

        package init(unit: String, done: Int, total: Int?, fraction: Double?, rate: Double?, remaining: Double?) {
            (self.unit, self.done, self.total) = (unit, done, total)
            (self.fraction, self.rate, self.remaining) = (fraction, rate, remaining)
        }
    }

    /// The progress of a running job. `operation` is the queue of the executing operation; `figures` belong to that
    /// operation.
    package typealias OfJob = (job: JobRecord, fraction: Double, operation: String?, figures: Figures?)

    package var batches: [(batch: BatchRecord, figures: Figures)]
    /// The progress of jobs without a batch.
    package var others: Figures
    package var jobs: [OfJob]
    /// Number of unfinished batches.
    package var unfinished: Int
    /// Number of running jobs.
    package var running: Int

    package init(
        batches: [(batch: BatchRecord, figures: Figures)], others: Figures, jobs: [OfJob], unfinished: Int, running: Int
    ) {
        (self.batches, self.others, self.jobs) = (batches, others, jobs)
        (self.unfinished, self.running) = (unfinished, running)
    }
}
