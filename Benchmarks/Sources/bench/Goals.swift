/// The goals, from all that was measured.
enum Goals {
    /// Those of which something was measured.
    static func all(_ results: [JobResult], _ single: Singles) -> [Goal] {
        (ratios(results) + singles(results, single)).filter { $0.reached != nil }
    }

    private static func ratios(_ results: [JobResult]) -> [Goal] {
        func ratio(
            _ job: String, _ text: String, _ limit: Goal.Limit, to peer: String,
            _ value: (Sample) -> Double = { $0.cpuEach }
        ) -> Goal? {
            guard let result = results.first(where: { $0.job.name == job }), let ours = result["pipelined"],
                let theirs = result[peer]
            else { return nil }
            return Goal(text: text, limit: limit, unit: "× \(peer)", reached: ours.ratio(to: theirs, value))
        }
        let thumbnail = "pyvips, thumbnail"
        return [
            ratio("noir-half", "half-size noir, 12 MP JPEG: CPU", .atMost(1.15), to: "floor"),
            ratio("noir-half", "half-size noir, 12 MP JPEG: pictures a second", .atLeast(0.85), to: "floor", \.rate),
            ratio("fit-1600", "fit to 1600, colour: CPU", .atMost(0.8), to: thumbnail),
            ratio("fit-1024", "fit to 1024, colour: CPU", .atMost(0.8), to: thumbnail),
            ratio("fit-640", "fit to 640, colour: CPU", .atMost(0.9), to: thumbnail),
            ratio("fit-1600-noir", "fit to 1600, noir: CPU", .atMost(0.45), to: thumbnail),
            ratio("fit-1024-noir", "fit to 1024, noir: CPU", .atMost(0.45), to: thumbnail),
            ratio("fit-640-noir", "fit to 640, noir: CPU", .atMost(0.65), to: thumbnail),
            ratio("webp", "half-size noir, WebP: CPU", .atMost(0.75), to: thumbnail),
            ratio("progressive", "half-size noir, progressive JPEG: CPU", .atMost(0.6), to: thumbnail),
            ratio("png", "half-size noir, PNG: CPU", .atMost(1), to: thumbnail),
            ratio("heic", "half-size noir, HEIC: CPU", .atMost(1), to: thumbnail),
        ].compactMap { $0 }
    }

    private static func singles(_ results: [JobResult], _ single: Singles) -> [Goal] {
        let small = results.first { $0.job.name == "small" }?["pipelined"]
        return [
            Goal(
                text: "10,000 files of 10 KB: supervisor's CPU a job", limit: .atMost(0.5), unit: "ms",
                reached: small?.figure { $0.supervisor * 1000 / Double($0.pictures) }),
            Goal(
                text: "100,000 files queued: supervisor's memory", limit: .atMost(150), unit: "MB",
                reached: single.queued),
            Goal(
                text: "one file, rename to published, without the fsyncs", limit: .atMost(1.3), unit: "× the render",
                reached: single.oneFile?.ratio),
            Goal(text: "a worker's peak memory, 12 MP JPEG", limit: .atMost(80), unit: "MB", reached: single.worker12),
            Goal(
                text: "a worker's peak memory, 128 MP JPEG", limit: .atMost(150), unit: "MB", reached: single.worker128),
            Goal(
                text: "luma of a JPEG at half size, against the plain way", limit: .atLeast(40), unit: "dB",
                reached: single.likenessOfJPEG?.half),
            Goal(
                text: "luma of a JPEG at full size", limit: .atLeast(50), unit: "dB",
                reached: single.likenessOfJPEG?.full),
            Goal(
                text: "luma of a WebP at half size", limit: .atLeast(40), unit: "dB",
                reached: single.likenessOfWebP?.half),
            Goal(
                text: "luma of a WebP at full size", limit: .atLeast(50), unit: "dB",
                reached: single.likenessOfWebP?.full),
            Goal(text: "idle: CPU a minute", limit: .atMost(0), unit: "ms", reached: single.idle?.cpu),
            Goal(text: "idle: supervisor's memory", limit: .atMost(40), unit: "MB", reached: single.idle?.supervisor),
            Goal(text: "idle: a worker's memory", limit: .atMost(50), unit: "MB", reached: single.idle?.worker),
            Goal(text: "from start to READY", limit: .atMost(150), unit: "ms", reached: single.idle?.ready),
        ]
    }
}
