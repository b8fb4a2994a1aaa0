public import PipelineModel

/// Messages from the supervisor to a worker. Descriptors travel beside the message.
public enum SupervisorMessage: Codable, Sendable {
    /// Reads a picture's header; with a grant, renders the picture as well. The first descriptor is the source, open
    /// for reading. After a barrier a second one is the original, for everything but the pixels. With a grant, a
    /// descriptor for each output follows, in order, open for reading and writing.
    case open(OpenRequest)
    /// Makes the results of the opened picture. The outputs' descriptors come with it, unless they came with `open`.
    case render
    /// Puts small pictures side by side. The descriptors are the pictures, open for reading, then the sheet. The
    /// answers are those to `render`.
    case compose(SheetRequest)
    /// Stops the present work. The answer to `open`, `render` or `compose` still comes.
    case cancel
}

public struct OpenRequest: Codable, Sendable {
    /// For messages only; a worker never opens it.
    public var name: String
    /// Nil stands for the outputs of the previous picture.
    public var outputs: [RenderOutput]?
    /// The worker refuses a picture whose header has more pixels.
    public var maxPixels: Int64
    /// The worker refuses a PNG whose texts and profile unpack to more bytes.
    public var maxTexts: Int64
    public var onTruncated: TruncatedPolicy
    public var raw: RawPolicy
    /// Maximum lines of its filters' log to send; further lines are only counted.
    public var filterLines: Int
    /// A picture that by its header needs at most this much memory is rendered at once. Nil grants nothing.
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
    public var stages: [Stage]
    /// The name template uses `{hash}`.
    public var wantsHash = false
    /// The name of a result, this one or another, uses the picture's date.
    public var wantsDate = false

    public init(name: String?, stages: [Stage]) {
        (self.name, self.stages) = (name, stages)
    }

    public init(_ picture: PlannedPicture, wantsDate: Bool) {
        self.init(name: picture.name, stages: picture.stages)
        wantsHash = picture.naming?.asks(for: .hash) ?? false
        self.wantsDate = wantsDate
    }
}

/// A sheet of small pictures, each with its caption below it.
public struct SheetRequest: Codable, Sendable {
    public var captions: [String]
    /// The format of the sheet's file.
    public var format: String
    /// Each small picture fits into a square with this side.
    public var edge: Int

    public init(captions: [String], format: String, edge: Int) {
        (self.captions, self.format, self.edge) = (captions, format, edge)
    }

    /// The stages that turn a result into a small picture. It is stored without loss, and transparent only where the
    /// result is.
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

    /// An estimate of the bytes needed: the small pictures are read from top to bottom, and the sheet is encoded as a
    /// whole.
    public var memory: Int64 { Int64(captions.count + 8) * Int64(edge * edge) * 8 }
}

/// Messages from a worker to the supervisor.
public enum WorkerMessage: Codable, Sendable {
    /// Sent before `hello`: the worker loads this plugin next. If the worker dies or hangs, this plugin is to blame.
    case loading(String)
    /// Sent once, before any request. The descriptor is the memory of its `FilterTrail`.
    case hello(Hello)
    /// The answer to `open` when the picture needs more than its grant: the worker waits for `render`.
    case opened(PictureHeader)
    /// The picture fits its grant, and is being rendered. Sent if that takes a while, or fails. The answer follows.
    case rendering(PictureHeader)
    /// The answer to `open` if the picture fits its grant, unless `rendering` has sent the header already.
    case made(PictureHeader, [RenderedOutput])
    /// Sent now and then during a render: pixels read so far, and pixels that all outputs read. It never follows the
    /// answer.
    case progress(done: Int64, total: Int64)
    /// The answer to `render`, or after `rendering`: the written outputs, in order.
    case rendered([RenderedOutput])
    /// The answer to `open` or `render` when it has failed.
    case failed(WorkerFailure)
    /// The answer to `open` or `render` after a `cancel`.
    case cancelled
    case said(FilterLine)
    /// The last message of a process that crashes.
    case crashed(CrashNote)
}

public struct FilterLine: Codable, Sendable, Hashable {
    /// Nil for the number of further lines of all filters.
    public var filter: String?
    public var isWarning: Bool
    public var text: String

    public init(filter: String?, isWarning: Bool, text: String) {
        (self.filter, self.isWarning, self.text) = (filter, isWarning, text)
    }
}

public struct CrashNote: Codable, Sendable, Hashable {
    /// The filter whose code was running; nil if none was.
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
    /// A progressive JPEG or interlaced PNG needs the whole picture in memory.
    public var progressive: Bool
    /// How each output's pixels would be read, in words: "grey at 1/2", "shrunk 1/4", "whole".
    public var decoderPaths: [String]
    /// The pages that each output takes: all frames of an animation, or one.
    public var framesTaken: [Int]
    /// An estimate of the bytes needed to render.
    public var memory: Int64
    /// When the picture was taken, by EXIF, if the request asks for the date.
    public var taken: PictureDate?

    public init(
        format: String, width: Int, height: Int, bands: Int, bitsPerSample: Int, pages: Int, orientation: Int,
        profile: String?, progressive: Bool, decoderPaths: [String], framesTaken: [Int], memory: Int64,
        taken: PictureDate? = nil
    ) {
        (self.format, self.width, self.height, self.bands) = (format, width, height, bands)
        (self.bitsPerSample, self.pages, self.orientation) = (bitsPerSample, pages, orientation)
        (self.profile, self.progressive, self.decoderPaths) = (profile, progressive, decoderPaths)
        (self.framesTaken, self.memory, self.taken) = (framesTaken, memory, taken)
    }
}

extension PictureHeader {
    /// The pixels that all outputs read, each frame once for each output.
    public var pixelsToRead: Int64 { Int64(width) * Int64(height) * Int64(framesTaken.reduce(0, +)) }

    /// Maximum memory that a worker may allocate for a picture whose estimate this is. A decoder that takes far more
    /// than its header promised has gone wild.
    public static func memoryLimit(_ estimate: Int64) -> Int64 { ownMemory + 4 * estimate }

    /// Memory that a worker has mapped before any picture, for libraries and threads' stacks, and as much again for
    /// what estimates leave out.
    private static let ownMemory: Int64 = 1 << 30
}

/// Why a picture can't be rendered, for the person who dropped it.
public struct WorkerFailure: Codable, Sendable, Hashable, Error {
    /// The stage of a failure by a forbidden system call.
    public static let confinement = "confinement"

    /// The stage in which it failed: `open`, `resize`, a filter's name, `save`, or `confinement`.
    public var stage: String
    public var message: String
    public var advice: String?
    public var `class`: FailureClass
    /// The filter that is to blame, if any.
    public var filter: String?

    public init(
        stage: String, message: String, advice: String? = nil, class: FailureClass = .input, filter: String? = nil
    ) {
        self.filter = filter
        self.class = `class`
        (self.stage, self.message, self.advice) = (stage, message, advice)
    }
}
