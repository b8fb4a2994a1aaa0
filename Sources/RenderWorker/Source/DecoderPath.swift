import PipelineModel

/// How the pixels of a picture are read, and the reason for this choice. `choose` selects the cheapest way that the
/// stages allow.
struct DecoderPath: Equatable {
    enum Colours {
        /// Reads only the luma plane of the file.
        case storedLuma
        /// Reads all colours, and converts them to luma before anything else.
        case luma
        /// Reads the planes of the file. The picture stays in planes until it is encoded, or until it becomes RGB after
        /// the resize.
        case planes
        case all
    }

    var colours: Colours
    /// Reads the picture at 1/n of its size, if the file or its decoder allows that.
    var shrink: Int
    /// Frames to read; more than one if an animation is kept.
    var frames = 1
    /// The shrink factor to use if libvips' loaders read all colours instead.
    let plainShrink: Int
    var reason: String

    var isGrey: Bool { colours == .storedLuma || colours == .luma }
    /// Whether planes are decoded instead of pixels.
    var isOfPlanes: Bool { colours == .storedLuma || colours == .planes }

    /// Whether decoding alone shrinks the planes of a picture of this size to the target. Decoders round sizes up.
    func reaches(_ target: ResizeStage.Target, of width: Int, _ height: Int) -> Bool {
        target.isReached(by: (width + shrink - 1) / shrink, (height + shrink - 1) / shrink)
    }

    var words: String {
        let size = frames > 1 ? "all \(frames) frames" : shrink == 1 ? "whole" : "1/\(shrink)"
        return switch colours {
        case .storedLuma: "greyscale, \(size)"
        case .luma: "\(size), then luma"
        case .planes: "planes, \(size)"
        case .all: size
        }
    }

    static func choose(
        _ facts: SourceFacts, _ stages: [Stage], _ traits: (Stage) -> Set<StageTrait>,
        movesPixels: (Stage) -> Bool
    ) -> DecoderPath {
        let resize = stages.first.flatMap(ResizeStage.init)
        let filters = stages.dropFirst(resize == nil ? 0 : 1)
        // A filter that only moves pixels can be applied to planes, too, so only other filters matter.
        let filter = filters.first { !movesPixels($0) }
        if facts.frames > 1, let save = stages.last.map(SaveStage.init), save.keepsFrames {
            return DecoderPath(colours: .all, shrink: 1, frames: facts.frames, plainShrink: 1, reason: "pages=all")
        }
        // If the chain names a kernel, every pixel must pass through it, so don't shrink while decoding.
        if let resize, !resize.mayShrinkWhileDecoding {
            return DecoderPath(
                colours: .all, shrink: 1, plainShrink: 1, reason: "kernel=\(resize.kernel) must process every pixel")
        }
        var reason = facts.isGrey ? "it has no colours" : facts.sizes(resize)
        var colours = Colours.all
        if let filter, traits(filter).contains(.lumaOnly) {
            reason = "\(filter.name) needs luma only"
            switch facts.luma {
            case .stored: colours = .storedLuma
            case .made: colours = .luma
            case .none(let obstacle): reason += ", but \(obstacle)"
            }
        } else if facts.isGrey, case .stored = facts.luma {
            colours = .storedLuma
        }
        if colours == .all, facts.planes != nil, let filter,
            SaveStage.storedPlanes(filter) != nil || facts.becomesRGB(after: resize)
        {
            colours = .planes
        }
        let shrink = facts.shrink(for: resize, roundsUp: false)
        if colours == .storedLuma || colours == .planes {
            let path = DecoderPath(
                colours: colours, shrink: facts.shrink(for: resize, roundsUp: true), plainShrink: shrink, reason: reason
            )
            let isRGB = colours == .planes && filter.flatMap(SaveStage.storedPlanes) == nil
            let isMoved = filter != filters.first
            if facts.fitsMemory(path, resize, withResult: isRGB || isMoved) { return path }
            colours = colours == .planes ? .all : .luma
        }
        return DecoderPath(colours: colours, shrink: shrink, plainShrink: shrink, reason: reason)
    }
}

/// Facts from a file's header that decide how the file can be read.
struct SourceFacts {
    enum Luma: Equatable {
        /// The first component is the luma of sRGB, and can be decoded without the other components.
        case stored
        /// Luma can be computed from the samples without a colour conversion.
        case made
        /// The colours must be converted before luma can be computed; the text names the obstacle.
        case none(String)
    }

    var format: SourceFormat
    /// The file's length in bytes.
    var length: Int
    /// The size as stored, before the picture is turned upright.
    var width: Int
    var height: Int
    var isTurned: Bool
    var isGrey: Bool
    /// Number of frames; more than one only for an animation.
    var frames: Int
    var luma: Luma
    /// The chroma subsampling of the file's planes, if the file stores planes in sRGB.
    var planes: Planes.Subsampling?
    /// Whether the worker decodes the planes of a JPEG, or all pixels of a PNG, with its own decoder.
    var hasOwnDecoder: Bool
    /// Factors by which a decoder can shrink the picture, largest first.
    var shrinks: [Int]
    /// How a camera's file is read, in words; nil for other files.
    var camera: String?

    /// Maximum memory for the file and its planes, which are kept in memory completely. Larger pictures are streamed
    /// instead.
    static let mostMemory = 96 << 20

    /// Whether the file and the decoded planes fit into `mostMemory`. If `withResult` is true, the memory of the result
    /// counts, too. Pass true if the result becomes an RGB picture, or if filters move its planes.
    fileprivate func fitsMemory(_ path: DecoderPath, _ resize: ResizeStage?, withResult: Bool) -> Bool {
        // libwebp decodes luma at full size and chroma at half; TurboJPEG decodes both at the wanted size.
        let shrink = format == .webp ? 1 : path.shrink
        let samples = format == .webp || path.colours == .planes ? planes?.samples ?? 1 : 1
        // Memory for three planes of the result, and for its picture.
        let result = withResult ? (resize.map(target)?.pixels ?? width * height) * 6 : 0
        let decoded = Double(width / shrink * (height / shrink)) * samples
        // A PNG's bytes are read as they are needed, so the file is not kept in memory.
        let file = format == .png ? 0 : length
        return Double(file + result) + decoded <= Double(Self.mostMemory)
    }

    /// Whether planes are resized before they become RGB. True only if the resize makes the picture smaller, because
    /// resizing planes is then cheaper. False for a very small result, because its edges would visibly differ from the
    /// edges that the ordinary decoding path makes.
    fileprivate func becomesRGB(after resize: ResizeStage?) -> Bool {
        guard let target = resize.map(target) else { return false }
        return target.pixels < width * height && min(target.width, target.height) >= Self.leastShrunk
    }

    /// Minimum size of a shrunk side: in a smaller picture, the partial pixels at the edges would be visible.
    private static let leastShrunk = 64
    /// The largest fraction of a side that libvips' loaders may drop.
    private static let mostLeftOut = 1.0 / 128

    /// The largest shrink factor that keeps the decoded picture at least as large as the target, and the result similar
    /// to the result of a lanczos3 resize. Decoders of planes round the size up to whole pixels (`roundsUp`); libvips'
    /// loaders drop a partial pixel at the end.
    fileprivate func shrink(for resize: ResizeStage?, roundsUp: Bool) -> Int {
        guard let target = resize.map(target) else { return 1 }
        func serves(_ shrink: Int, _ size: Int, _ wanted: Int) -> Bool {
            let decoded = roundsUp ? (size + shrink - 1) / shrink : size / shrink
            let isWhole = roundsUp || Double(size % shrink) <= Double(size) * Self.mostLeftOut
            return decoded >= max(wanted, Self.leastShrunk) && isWhole
        }
        return shrinks.first { serves($0, width, target.width) && serves($0, height, target.height) } ?? 1
    }

    /// Names the worker's own decoder, if it decodes this path's pixels.
    func decoder(_ path: DecoderPath) -> String {
        hasOwnDecoder && (path.isOfPlanes || format == .png) ? ", own decoder" : ""
    }

    /// The name of the resizer that resizes this path's planes; empty if they already have the target's size.
    func resizer(_ path: DecoderPath, _ stages: [Stage]) -> String {
        guard path.isOfPlanes, let target = stages.first.flatMap(ResizeStage.init).map(target) else { return "" }
        return path.reaches(target, of: width, height) ? "" : ", lanczos3 by zimg"
    }

    fileprivate func sizes(_ resize: ResizeStage?) -> String {
        guard let target = resize.map(target) else { return "the chain begins at full size" }
        let upright = isTurned ? target.turned : target
        let result = "resize makes \(upright.width) × \(upright.height)"
        return shrinks.isEmpty ? "\(result); a \(format.rawValue) contains no smaller copy" : result
    }

    func target(_ resize: ResizeStage) -> ResizeStage.Target {
        resize.target(stored: width, height, isTurned: isTurned)
    }
}
