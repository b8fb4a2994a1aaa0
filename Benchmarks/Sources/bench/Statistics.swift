/// The cost of one round of a contender.
struct Sample {
    var pictures: Int
    /// The processor time of all the contender's processes, in seconds.
    var cpu: Double
    /// The supervisor's share of `cpu`, in seconds.
    var supervisor = 0.0
    /// Seconds from the first picture to the last result.
    var wall: Double
    /// In bytes.
    var memory: Int
    /// Bytes received by a fleet's server.
    var wire = 0.0

    var cpuEach: Double { cpu * 1000 / Double(pictures) }
    var rate: Double { Double(pictures) / wall }
    var megabytes: Double { Double(memory) / 1_048_576 }
}

/// The median, the lowest and the highest value of several rounds.
struct Figure {
    var median: Double
    var least: Double
    var most: Double

    init?(_ values: [Double]) {
        let sorted = values.filter(\.isFinite).sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        let half = sorted.count / 2
        median = sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
        (least, most) = (first, last)
    }

    /// `23.1 (22.8–24.0)`
    var text: String { "\(Text.short(median)) (\(Text.short(least))–\(Text.short(most)))" }
}

/// All rounds of one contender for one job. The ratio of two contenders is the median of the ratios of their rounds,
/// because a disturbance of the machine affects neighbouring rounds alike.
struct Series {
    var name: String
    var samples: [Sample] = []

    func figure(_ value: (Sample) -> Double) -> Figure? { Figure(samples.map(value)) }

    func ratio(to other: Series, _ value: (Sample) -> Double) -> Figure? {
        Figure(zip(samples, other.samples).map { value($0) / value($1) })
    }
}

/// All contenders' rounds for one job.
struct JobResult {
    var job: Job
    var series: [Series]

    subscript(name: String) -> Series? { series.first { $0.name == name } }

    /// Returns the contender with the lowest median among the named contenders. Without names, considers all contenders
    /// except pipelined and the floor.
    func best(of names: [String]? = nil, _ value: (Sample) -> Double) -> Series? {
        series.filter { names?.contains($0.name) ?? !($0.name.hasPrefix("pipelined") || $0.name == "floor") }
            .min { $0.figure(value)?.median ?? .infinity < $1.figure(value)?.median ?? .infinity }
    }
}
