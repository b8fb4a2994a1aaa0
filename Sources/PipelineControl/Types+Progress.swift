extension Control {
    /// How far something is.
    public struct Progress: Codable, Sendable, Hashable {
        /// `bytes`, `pixels` or `jobs`.
        public var unit: String
        public var done: Int
        @Nullable public var total: Int?
        /// From 0 to 1; of a batch with what its jobs in work have done.
        @Nullable public var fraction: Double?
        /// Units a second, of late.
        @Nullable public var rate: Double?
        /// Seconds.
        @Nullable public var remaining: Double?

        public init(
            unit: String, done: Int, total: Int? = nil, fraction: Double? = nil, rate: Double? = nil,
            remaining: Double? = nil
        ) {
            self.unit = unit
            self.done = done
            self.total = total
            self.fraction = fraction
            self.rate = rate
            self.remaining = remaining
        }
    }

    public struct BatchProgress: Codable, Sendable, Hashable {
        public var batch: Batch
        public var progress: Progress

        public init(batch: Batch, progress: Progress) {
            self.batch = batch
            self.progress = progress
        }
    }

    public struct JobProgress: Codable, Sendable, Hashable {
        public var job: Job
        /// Of all its operations together.
        public var fraction: Double
        /// The one that works now, and how far that is.
        @Nullable public var operation: String?
        @Nullable public var progress: Progress?

        public init(job: Job, fraction: Double, operation: String? = nil, progress: Progress? = nil) {
            self.job = job
            self.fraction = fraction
            self.operation = operation
            self.progress = progress
        }
    }
}
