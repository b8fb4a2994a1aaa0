public import PipelineModel

/// Messages from the supervisor to a render worker. Most messages carry descriptors.
public enum SupervisorMessage: Codable, Sendable {
    /// Reads a picture's header. With a memory grant that suffices, also renders the picture. The first descriptor is
    /// the source, open for reading. After a barrier, the second descriptor is the original, from which the worker
    /// reads everything but the pixels. With a grant, a descriptor for each output follows, in order, open for reading
    /// and writing. If the request has outputs, the last descriptors are the files that their filters use, in the order
    /// of `fileDigests`; the worker remembers them together with the outputs.
    case open(OpenRequest)
    /// Renders the opened picture. The message carries the outputs' descriptors, unless `open` has carried them.
    case render
    /// Combines small pictures into a contact sheet. The descriptors are the pictures, open for reading, then the
    /// sheet. The answers are the same as to `render`.
    case compose(SheetRequest)
    /// Stops the current work. The worker still answers the `open`, `render` or `compose` that was stopped.
    case cancel
}

public struct OpenRequest: Codable, Sendable {
    /// The picture's name, for messages only. The worker can't use it to open a file.
    public var name: String
    /// Nil means the same outputs as for the previous picture.
    public var outputs: [RenderOutput]?
    /// Maximum number of pixels. The worker refuses a picture whose header announces more pixels.
    public var maxPixels: Int64
    /// Maximum unpacked size of a PNG's texts and profile, in bytes. The worker refuses a PNG that exceeds it.
    public var maxTexts: Int64
    public var onTruncated: TruncatedPolicy
    public var raw: RawPolicy
    /// Maximum number of the filters' log lines to send. The worker only counts further lines.
    public var filterLines: Int
    /// Memory granted in advance, in bytes. The worker renders the picture at once if its header shows that the grant
    /// suffices. Nil grants nothing.
    public var grant: Int64?

    public init(
        name: String, outputs: [RenderOutput]?, maxPixels: Int64, maxTexts: Int64 = Settings.usualTexts,
        onTruncated: TruncatedPolicy = .fail, raw: RawPolicy = .preview, filterLines: Int = 10, grant: Int64? = nil
    ) {
        (self.grant, self.name, self.outputs) = (grant, name, outputs)
        (self.maxPixels, self.maxTexts) = (maxPixels, maxTexts)
        (self.onTruncated, self.raw, self.filterLines) = (onTruncated, raw, filterLines)
    }
}

/// The stages from the source picture to one result; the last is `save`.
public struct RenderOutput: Codable, Sendable, Hashable {
    public var name: String?
    /// The stages before a barrier, which made the source; empty if the source is the original.
    public var earlier: [Stage] = []
    public var stages: [Stage]
    /// Whether the result's name template uses `{hash}`.
    public var wantsHash = false
    /// Whether any result of the picture, this result or another, uses the picture's date in its name.
    public var wantsDate = false
    /// Whether the output has a condition, for which the header's facts are needed.
    public var wantsFacts = false

    public init(name: String?, stages: [Stage]) {
        (self.name, self.stages) = (name, stages)
    }

    public init(_ picture: PlannedPicture, wantsDate: Bool, wantsFacts: Bool = false) {
        self.init(name: picture.name, stages: picture.stages)
        earlier = picture.earlier
        wantsHash = picture.naming?.asks(for: .hash) ?? false
        (self.wantsDate, self.wantsFacts) = (wantsDate, wantsFacts)
    }

    /// An output for a request that needs only the picture's facts. The output is never rendered.
    public static var facts: RenderOutput {
        var output = RenderOutput(name: nil, stages: [Stage(name: "save", arguments: ["format": .text("png")])])
        output.wantsFacts = true
        return output
    }
}

/// A request for a contact sheet of small pictures, each with its caption below it.
public struct SheetRequest: Codable, Sendable {
    public var captions: [String]
    /// The format of the sheet's file.
    public var format: String
    /// Each small picture fits into a square with this side.
    public var edge: Int

    public init(captions: [String], format: String, edge: Int) {
        (self.captions, self.format, self.edge) = (captions, format, edge)
    }

    /// The stages that turn a result into a small picture for a sheet. The small picture is stored without loss. It is
    /// opaque if the result is a JPEG.
    public static func cell(edge: Int, of save: Stage? = nil) -> [Stage] {
        var arguments: [String: ArgumentValue] = [
            "format": .text("png"), "compression": .number(1), "metadata": .text("strip"),
        ]
        if let save, save.arguments["format"]?.text ?? "jpeg" == "jpeg" {
            arguments["opaque"] = .number(1)
            arguments["background"] = save.arguments["background"]
        }
        let side = ArgumentValue.number(Double(edge))
        return [
            Stage(name: "resize", arguments: ["width": side, "height": side]),
            Stage(name: "save", arguments: arguments),
        ]
    }

    /// An estimate of the memory needed, in bytes. The small pictures are read from top to bottom, but the sheet is
    /// encoded as a whole.
    public var memory: Int64 { Int64(captions.count + 8) * Int64(edge * edge) * 8 }
}

/// Messages from a render worker to the supervisor.
public enum WorkerMessage: Codable, Sendable {
    /// Sent before `hello`: the worker loads this plugin next. If the worker dies or hangs before its next message, the
    /// supervisor blames this plugin.
    case loading(String)
    /// Sent once, before any request. The message carries a descriptor: the memory of the worker's `FilterTrail`.
    case hello(Hello)
    /// The answer to `open` if the picture needs more memory than granted. The worker then waits for `render`.
    case opened(PictureHeader)
    /// The memory grant suffices, and the worker is rendering the picture. Sent only if the render takes a while, or
    /// fails. The answer follows.
    case rendering(PictureHeader)
    /// The answer to `open` if the worker has rendered the picture within its memory grant and has not sent `rendering`
    /// before.
    case made(PictureHeader, [RenderedOutput])
    /// Sent repeatedly during a render: the number of pixels read so far, and the number that all outputs read in
    /// total. Never sent after the answer.
    case progress(done: Int64, total: Int64)
    /// The answer to `render`, and the last message after `rendering`: the written outputs, in order.
    case rendered([RenderedOutput])
    /// The answer to a request that failed.
    case failed(WorkerFailure)
    /// The answer to a request that `cancel` has stopped.
    case cancelled
    case said(FilterLine)
    /// The last message of a worker that crashes.
    case crashed(CrashNote)
}

public struct FilterLine: Codable, Sendable, Hashable {
    /// The filter that logged the line. Nil if the text is the total number of lines left out.
    public var filter: String?
    public var isWarning: Bool
    public var text: String

    public init(filter: String?, isWarning: Bool, text: String) {
        (self.filter, self.isWarning, self.text) = (filter, isWarning, text)
    }
}

public struct CrashNote: Codable, Sendable, Hashable {
    /// The filter whose code was running; nil if no filter's code was running.
    public var filter: String?
    public var isOutOfMemory: Bool

    public init(filter: String?, isOutOfMemory: Bool) {
        (self.filter, self.isOutOfMemory) = (filter, isOutOfMemory)
    }
}

public struct Hello: Codable, Sendable {
    public var version: String
    public var filters: [StageDescription]
    /// Plugins that were left out, each with the reason.
    public var skipped: [SkippedPlugin]
    /// The parts of the worker's confinement that the kernel lacks, and why.
    public var missing: [String]
    /// Formats that this worker can't write.
    public var missingEncoders: [MissingEncoder]

    public init(
        version: String, filters: [StageDescription], skipped: [SkippedPlugin], missing: [String],
        missingEncoders: [MissingEncoder]
    ) {
        (self.version, self.filters, self.skipped, self.missing) = (version, filters, skipped, missing)
        self.missingEncoders = missingEncoders
    }
}

public struct SkippedPlugin: Codable, Sendable, Hashable {
    public var file: String
    public var reason: String

    public init(file: String, reason: String) {
        (self.file, self.reason) = (file, reason)
    }
}

/// A picture's header, and how this worker would read the picture.
public struct PictureHeader: Codable, Sendable, Hashable {
    public var format: String
    public var width: Int
    public var height: Int
    public var bands: Int
    public var bitsPerSample: Int
    public var pages: Int
    /// EXIF orientation, 1 to 8.
    public var orientation: Int
    /// The ICC profile's own name, if there is one.
    public var profile: String?
    /// Whether the picture is a progressive JPEG or an interlaced PNG. To decode it, a worker needs the whole picture
    /// in memory.
    public var progressive: Bool
    /// How the worker would read the pixels for each output, in words: "grey at 1/2", "shrunk 1/4", "whole".
    public var decoderPaths: [String]
    /// The number of pages that each output reads: all frames of an animation, or one.
    public var framesTaken: [Int]
    /// An estimate of the memory needed to render the picture, in bytes.
    public var memory: Int64
    /// When the picture was taken, according to EXIF; nil unless the request asks for the date.
    public var taken: PictureDate?
    /// Facts for the outputs' conditions; nil unless the request asks for facts.
    public var facts: PictureFacts?
    /// The picture's gain map, in words: "gain map 1008 × 756". Nil if the picture has no gain map.
    public var gainMap: String?
    /// The plan for the gain map in each output, in words; an empty text if there is nothing to report.
    public var gainMapPlans: [String]

    public init(
        format: String, width: Int, height: Int, bands: Int, bitsPerSample: Int, pages: Int, orientation: Int,
        profile: String?, progressive: Bool, decoderPaths: [String], framesTaken: [Int], memory: Int64,
        taken: PictureDate? = nil, gainMap: String? = nil, gainMapPlans: [String]? = nil
    ) {
        (self.format, self.width, self.height, self.bands) = (format, width, height, bands)
        (self.bitsPerSample, self.pages, self.orientation) = (bitsPerSample, pages, orientation)
        (self.profile, self.progressive, self.decoderPaths) = (profile, progressive, decoderPaths)
        (self.framesTaken, self.memory, self.taken) = (framesTaken, memory, taken)
        (self.gainMap, self.gainMapPlans) = (gainMap, gainMapPlans ?? decoderPaths.map { _ in "" })
    }
}

extension PictureHeader {
    /// The pixels that all outputs read, each frame once for each output.
    public var pixelsToRead: Int64 { Int64(width) * Int64(height) * Int64(framesTaken.reduce(0, +)) }

    /// Maximum memory that a worker may allocate for a picture with this estimate. The limit stops a decoder that needs
    /// far more memory than the header suggests.
    public static func memoryLimit(_ estimate: Int64) -> Int64 { ownMemory + 4 * estimate }

    /// Twice the memory that a worker has mapped before its first picture, for libraries and threads' stacks. The
    /// second half is for everything that estimates don't include.
    private static let ownMemory: Int64 = 1 << 30
}

/// Why a picture can't be rendered, in words for the user.
public struct WorkerFailure: Codable, Sendable, Hashable, Error {
    /// The value of `stage` if a forbidden system call caused the failure.
    public static let confinement = "confinement"

    /// The stage that failed: `open`, `resize`, a filter's name, `save`, or `confinement`.
    public var stage: String
    public var message: String
    public var advice: String?
    public var `class`: FailureClass
    /// The filter that caused the failure, if a filter did.
    public var filter: String?

    public init(
        stage: String, message: String, advice: String? = nil, class: FailureClass = .input, filter: String? = nil
    ) {
        self.filter = filter
        self.class = `class`
        (self.stage, self.message, self.advice) = (stage, message, advice)
    }
}
