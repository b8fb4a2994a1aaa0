/// The work on each picture. Every contender makes the same results, at quality 85.
struct Job {
    struct Output {
        enum Size {
            case half
            case width(Int)
        }

        var size: Size
        var filter: String?
        /// The filter as a chain names it: the filter's name, with its required parameters, if any.
        var stage: String?

        init(size: Size, filter: String? = nil, stage: String? = nil) {
            (self.size, self.filter, self.stage) = (size, filter, stage ?? filter)
        }

        func pixels(of set: PictureSet) -> (width: Int, height: Int) {
            switch size {
            case .half: ((set.width + 1) / 2, (set.height + 1) / 2)
            case .width(let width): (width, (set.height * width + set.width / 2) / set.width)
            }
        }
    }

    var name: String
    var title: String
    var pictures: PictureSet
    var outputs: [Output]
    /// The results' format: jpeg, webp or png.
    var format = "jpeg"
    /// Further parameters of pipelined's `save`.
    var saving = ""
    /// The number of pictures per round. `countOfCommands` is the number for commands that start anew for each picture.
    var count: Int
    var countOfCommands: Int

    /// The work in the peers' notation: `half+noir`, `1600,1024,640`.
    var work: String {
        outputs.map { output in
            let size =
                switch output.size {
                case .half: "half"
                case .width(let width): "\(width)"
                }
            return size + (output.filter.map { "+\($0)" } ?? "")
        }.joined(separator: ",")
    }

    /// The outputs of a recipe for pipelined.
    var recipe: String {
        outputs.enumerated().map { index, output in
            let size =
                switch output.size {
                case .half: "scale=0.5"
                case .width(let width): "width=\(width)"
                }
            let quality = format == "png" ? "" : " quality=85"
            return """
                [Output\(outputs.count == 1 ? "" : " n\(index)")]
                Chain=resize \(size) | \(output.stage.map { "\($0) | " } ?? "")save format=\(format)\(quality)\(saving)

                """
        }.joined()
    }

    var isHalfNoir: Bool { work == "half+noir" }
    var suffix: String { format == "jpeg" ? "jpg" : format }
}

extension Job {
    static let halfNoir = Job(
        "noir-half", "Half size, noir: JPEG, 12 megapixels", .jpeg12, [Output(size: .half, filter: "noir")], 60, 8)
    /// A burst of pictures, as from a memory card. Its only goal is the elapsed time.
    static let burst = Job(
        "burst", "24 pictures at once, half size, noir: JPEG, 12 megapixels", .jpeg12,
        [Output(size: .half, filter: "noir")], 24, 8)
    static let smallFiles = Job(
        "small", "Half size, noir: JPEGs of 10 KB", .small, [Output(size: .half, filter: "noir")], 10_000, 40)

    static let toWebP = Job(
        "fit-1600-to-webp", "Fit to 1600, colour, to WebP: JPEG, 12 megapixels", .jpeg12,
        [Output(size: .width(1600))], 16, 4, to: "webp")

    /// Photographs as a phone takes them, with a gain map whose sides are a quarter of the photograph's.
    static let gainMap = Job(
        "fit-1600-gain-map", "Fit to 1600, colour, with a gain map: JPEG, 12 megapixels", .gainMap12,
        [Output(size: .width(1600))], 24, 4)

    var withoutGainMap: Job {
        var job = self
        job.saving = " hdr=drop"
        return job
    }

    static let toPNG = Job(
        "fit-1600-to-png", "Fit to 1600, colour, to PNG: JPEG, 12 megapixels", .jpeg12,
        [Output(size: .width(1600))], 16, 4, to: "png")

    /// The suffix in names of jobs with 24 megapixels.
    static let large = "-24"

    static let all: [Job] =
        [halfNoir]
        + [1600, 1024, 640].map { fit([$0], isNoir: false) }
        + [1600, 1024, 640].map { fit([$0], isNoir: true) }
        + [
            fit([1600, 1024, 640], isNoir: false), burst, gainMap, toWebP, toPNG,
            Job(
                "fit-1600-from-webp", "Fit to 1600, colour: WebP, 12 megapixels", .webp12,
                [Output(size: .width(1600))], 16, 4),
            halfNoir("progressive", "progressive JPEG, 12 megapixels", .progressive12, 16, 4),
            halfNoir("webp", "WebP, 12 megapixels", .webp12, 16, 4),
            halfNoir("png", "PNG, 12 megapixels", .png12, 8, 4),
            halfNoir("heic", "HEIC, 12 megapixels", .heic12, 8, 4),
            halfNoir("noir-half\(large)", "JPEG, 24 megapixels", .jpeg24, 16, 4),
            halfNoir("progressive\(large)", "progressive JPEG, 24 megapixels", .progressive24, 8, 2),
            halfNoir("webp\(large)", "WebP, 24 megapixels", .webp24, 8, 2),
            halfNoir("png\(large)", "PNG, 24 megapixels", .png24, 4, 2),
            halfNoir("heic\(large)", "HEIC, 24 megapixels", .heic24, 4, 2),
            smallFiles,
        ] + filters

    /// Each filter that comes with pipelined, after a fit to 1600.
    static let filters: [Job] = [
        "autolevels", "blur", "border", "chrome", "crop ratio=3:2", "duotone", "fade", "flip", "frame caption=Ada",
        "grain", "instant", "lut file=look.cube", "mono", "noir", "rotate", "sepia", "sharpen", "straighten angle=3",
        "tilt-shift",
        "tone exposure=0.3 contrast=0.2 shadows=0.3 vibrance=0.3 temperature=0.2", "vignette", "watermark text=Ada",
    ].map { stage in
        let name = String(stage.prefix { $0 != " " })
        return Job(
            "filter-\(name)", "Fit to 1600, \(name): JPEG, 12 megapixels", .jpeg12,
            [Output(size: .width(1600), filter: name, stage: stage)], 16, 4)
    }

    var isOfFilter: Bool { name.hasPrefix("filter-") }

    private init(
        _ name: String, _ title: String, _ pictures: PictureSet, _ outputs: [Output], _ count: Int,
        _ countOfCommands: Int, to format: String = "jpeg"
    ) {
        self.init(
            name: name, title: title, pictures: pictures, outputs: outputs, format: format, count: count,
            countOfCommands: countOfCommands)
    }

    private static func halfNoir(
        _ name: String, _ pictures: String, _ set: PictureSet, _ count: Int, _ countOfCommands: Int
    ) -> Job {
        Job(name, "Half size, noir: \(pictures)", set, halfNoir.outputs, count, countOfCommands)
    }

    static func fit(_ widths: [Int], isNoir: Bool) -> Job {
        let words = widths.map(String.init).joined(separator: "-")
        let shown = widths.count == 1 ? "Fit to \(words)" : "Three results: \(words.replacing("-", with: ", "))"
        return Job(
            "fit-\(words)\(isNoir ? "-noir" : "")", "\(shown), \(isNoir ? "noir" : "colour"): JPEG, 12 megapixels",
            .jpeg12,
            widths.map { Output(size: .width($0), filter: isNoir ? "noir" : nil) }, 24, 4)
    }
}
