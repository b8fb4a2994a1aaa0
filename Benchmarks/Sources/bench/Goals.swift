/// All goals, from all measurements.
enum Goals {
    /// Returns the goals for which there is a measurement.
    static func all(_ results: [JobResult], _ single: Singles) -> [Goal] {
        (ratios(results) + filters(results) + singles(results, single)).filter { $0.reached != nil }
    }

    private static func ratios(_ results: [JobResult]) -> [Goal] {
        func ratio(
            _ job: String, _ text: String, _ limit: Goal.Limit, to peers: [String]? = nil, called name: String,
            _ value: (Sample) -> Double = { $0.cpuEach }
        ) -> Goal? {
            guard let result = results.first(where: { $0.job.name == job }), let ours = result["pipelined"],
                let theirs = result.best(of: peers, value)
            else { return nil }
            let told = peers?.count == 1 ? name : "\(name) (\(theirs.name))"
            let floor = theirs.name == "floor" ? nil : result["floor"]?.ratio(to: theirs, value)
            return Goal(
                text: text, limit: limit, unit: "× \(told)", reached: ours.ratio(to: theirs, value),
                hindrance: floor.map { "the floor itself takes \($0.text) × \(theirs.name)" })
        }
        func single(
            _ job: String, _ text: String, _ limit: Goal.Limit, to peer: String,
            _ value: (Sample) -> Double = { $0.cpuEach }
        ) -> Goal? { ratio(job, text, limit, to: [peer], called: peer, value) }
        let (floor, thumbnail, openCV) = ("floor", "pyvips, thumbnail", "OpenCV, reduced")
        let lean = [openCV, "Pillow, draft"]
        return [
            single("noir-half", "half-size noir, 12 MP JPEG: CPU", .atMost(1.08), to: floor),
            single("noir-half", "half-size noir, 12 MP JPEG: pictures a second", .atLeast(0.9), to: floor, \.rate),
            single("burst", "24 pictures at once, half-size noir: time", .atMost(1.12), to: floor) { $0.wall },
            single("fit-1600", "fit to 1600, colour: CPU", .atMost(0.8), to: openCV),
            single("fit-1024", "fit to 1024, colour: CPU", .atMost(0.85), to: openCV),
            single("fit-640", "fit to 640, colour: CPU", .atMost(1), to: openCV),
            ratio("fit-1600-noir", "fit to 1600, noir: CPU", .atMost(1), to: lean, called: "the better"),
            ratio("fit-1024-noir", "fit to 1024, noir: CPU", .atMost(1), to: lean, called: "the better"),
            ratio("fit-640-noir", "fit to 640, noir: CPU", .atMost(1.08), to: lean, called: "the better"),
            single("fit-1600-1024-640", "three results, colour: CPU", .atMost(0.7), to: openCV),
            ratio("fit-1600-to-webp", "fit to 1600, colour, to WebP: CPU", .atMost(0.9), called: "the best"),
            single("fit-1600-to-webp", "fit to 1600, colour, to WebP: CPU", .atMost(1.08), to: floor),
            single("fit-1600-to-png", "fit to 1600, colour, to PNG: CPU", .atMost(0.8), to: thumbnail),
            ratio("fit-1600-from-webp", "fit to 1600, colour, from WebP: CPU", .atMost(0.9), called: "the best"),
            single(
                "fit-1600-gain-map", "fit to 1600, colour, with a gain map: CPU", .atMost(1.3),
                to: "pipelined, hdr=drop"),
            single("webp", "half-size noir, WebP: CPU", .atMost(0.75), to: thumbnail),
            single("progressive", "half-size noir, progressive JPEG: CPU", .atMost(0.6), to: thumbnail),
            single("png", "half-size noir, PNG: CPU", .atMost(0.6), to: openCV),
            single("heic", "half-size noir, HEIC: CPU", .atMost(1), to: thumbnail),
        ].compactMap { $0 }
    }

    /// Returns goals for the cost of each filter, in comparison with OpenCV's version of the filter and with
    /// pipelined's resize without a filter.
    private static func filters(_ results: [JobResult]) -> [Goal] {
        results.filter { $0.job.isOfFilter }.flatMap { result -> [Goal] in
            guard let ours = result["pipelined"], let openCV = result["OpenCV, reduced"],
                let plain = result["pipelined, without the filter"], let filter = result.job.outputs.first?.filter
            else { return [] }
            return [
                Goal(
                    text: "fit to 1600, \(filter): CPU", limit: .atMost(1), unit: "× OpenCV, reduced",
                    reached: ours.ratio(to: openCV, \.cpuEach)),
                Goal(
                    text: "fit to 1600, \(filter): CPU", limit: .atMost(2), unit: "× without the filter",
                    reached: ours.ratio(to: plain, \.cpuEach)),
            ]
        }
    }

    private static func singles(_ results: [JobResult], _ single: Singles) -> [Goal] {
        let small = results.first { $0.job.name == "small" }?["pipelined"]
        return [
            Goal(
                text: "10,000 files of 10 KB: supervisor's CPU a job", limit: .atMost(0.5), unit: "ms",
                reached: small?.figure { $0.supervisor * 1000 / Double($0.pictures) }),
            Goal(
                text: "10,000 files of 10 KB: CPU of all processes a picture", limit: .atMost(1.7), unit: "ms",
                reached: small?.figure(\.cpuEach)),
            Goal(
                text: "10,000 files of 10 KB: pictures a second", limit: .atLeast(1000), unit: "",
                reached: small?.figure(\.rate)),
            Goal(
                text: "100,000 files queued: supervisor's memory", limit: .atMost(150), unit: "MB",
                reached: single.queued),
            Goal(
                text: "one file, rename to published, without the fsyncs", limit: .atMost(1.3), unit: "× the render",
                reached: single.oneFile?.ratio),
            Goal(text: "a worker's peak memory, 12 MP JPEG", limit: .atMost(80), unit: "MB", reached: single.worker12),
            Goal(
                text: "a worker's peak memory, 128 MP JPEG", limit: .atMost(150), unit: "MB", reached: single.worker128),
        ] + likeness(of: "a JPEG", single.likenessOfJPEG) + likeness(of: "a WebP", single.likenessOfWebP) + [
            Goal(text: "idle: CPU a minute", limit: .atMost(0), unit: "ms", reached: single.idle?.cpu),
            Goal(text: "idle: supervisor's memory", limit: .atMost(40), unit: "MB", reached: single.idle?.supervisor),
            Goal(text: "idle: a worker's memory", limit: .atMost(50), unit: "MB", reached: single.idle?.worker),
            Goal(text: "from start to READY", limit: .atMost(150), unit: "ms", reached: single.idle?.ready),
        ]
    }
    /// Returns goals for the similarity of pipelined's results to the results of libvips' plain path.
    private static func likeness(of picture: String, _ likeness: Likeness?) -> [Goal] {
        func goal(_ text: String, _ least: Double, _ reached: Figure?) -> Goal {
            Goal(text: text, limit: .atLeast(least), unit: "dB", reached: reached)
        }
        return [
            goal("luma of \(picture) at half size, against the plain way", 40, likeness?.half),
            goal("luma of \(picture) at full size", 50, likeness?.full),
            goal("colours of \(picture) fitted to 1600", 38, likeness?.colours),
        ]
    }
}
