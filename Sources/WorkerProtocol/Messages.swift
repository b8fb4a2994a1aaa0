public import PipelineModel

/// What the supervisor says to a worker. Descriptors travel beside the message.
public enum SupervisorMessage: Codable, Sendable {
    /// Read the header of a picture, and with a grant make its results. One descriptor: the source, open for reading. A second one when the
    /// source was handed over a barrier: the original, for what a picture carries beside its pixels. With a grant then one for each output, in
    /// order, open for reading and writing.
    case open(OpenRequest)
    /// Make the results of the opened picture. The descriptors of the outputs, unless they came with `open`.
    case render
    /// Stop what is being done. The answer to `open` or `render` comes all the same.
    case cancel
}

public struct OpenRequest: Codable, Sendable {
    /// For messages alone; a worker never opens it.
    public var name: String
    /// Nil: those of the picture before.
    public var outputs: [RenderOutput]?
    /// Pictures with more pixels than this are refused by their header.
    public var maxPixels: Int64
    public var onTruncated: TruncatedPolicy
    /// So many lines that its filters log are told; the others are counted.
    public var filterLines: Int
    /// A picture that needs no more memory than this by its header is rendered at once. Nil: none is.
    public var grant: Int64?

    public init(
        name: String, outputs: [RenderOutput]?, maxPixels: Int64, onTruncated: TruncatedPolicy = .fail,
        filterLines: Int = 10, grant: Int64? = nil
    ) {
        self.grant = grant
        self.name = name
        self.outputs = outputs
        self.maxPixels = maxPixels
        self.onTruncated = onTruncated
        self.filterLines = filterLines
    }
}

/// The stages from the source picture to one result; the last is `save`.
public struct RenderOutput: Codable, Sendable, Hashable {
    public var name: String?
    public var stages: [Stage]

    public init(name: String?, stages: [Stage]) {
        self.name = name
        self.stages = stages
    }
}

/// What a worker says to the supervisor.
public enum WorkerMessage: Codable, Sendable {
    /// Before `hello`: this plugin is loaded next. It is to blame for what the worker dies of, or hangs in.
    case loading(String)
    /// Once, before anything is asked of it. One descriptor: the memory of its `FilterTrail`.
    case hello(Hello)
    /// The answer to `open` when the picture was not granted what it needs: `render` is waited for.
    case opened(PictureHeader)
    /// The picture was granted what it needs, and is being rendered: told when that takes a while, or fails. The answer follows.
    case rendering(PictureHeader)
    /// The answer to `open` when the picture was granted what it needs, and what was found out of it has not been told before.
    case made(PictureHeader, [RenderedOutput])
    /// Now and then while a render goes on: pixels of the picture that have been read, of all that its outputs read. Never after the answer.
    case progress(done: Int64, total: Int64)
    /// The answer to `render`, or after `rendering`: what was written to each output, in order.
    case rendered([RenderedOutput])
    /// The answer to `open` or `render` when it can't be done.
    case failed(WorkerFailure)
    /// The answer to `open` or `render` after a `cancel`.
    case cancelled
    /// What a filter wants to be read in the log.
    case said(FilterLine)
    /// The last word of a process that crashes.
    case crashed(CrashNote)
}

public struct FilterLine: Codable, Sendable, Hashable {
    /// Nil for what is said of all of them: how many lines more there were.
    public var filter: String?
    public var isWarning: Bool
    public var text: String

    public init(filter: String?, isWarning: Bool, text: String) {
        self.filter = filter
        self.isWarning = isWarning
        self.text = text
    }
}

public struct CrashNote: Codable, Sendable, Hashable {
    /// The one whose code was running; nil if it was none's.
    public var filter: String?
    /// Whether it had no memory left.
    public var isOutOfMemory: Bool

    public init(filter: String?, isOutOfMemory: Bool) {
        self.filter = filter
        self.isOutOfMemory = isOutOfMemory
    }
}

public struct Hello: Codable, Sendable {
    public var version: String
    /// The filters that were loaded.
    public var filters: [StageDescription]
    /// Plugins that were left out, and why.
    public var skipped: [SkippedPlugin]
    /// What the kernel does not give of the worker's confinement, and why.
    public var missing: [String]

    public init(
        version: String, filters: [StageDescription], skipped: [SkippedPlugin], missing: [String]
    ) {
        self.version = version
        self.filters = filters
        self.skipped = skipped
        self.missing = missing
    }
}

public struct SkippedPlugin: Codable, Sendable, Hashable {
    public var file: String
    public var reason: String

    public init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }
}

/// What a picture's header says, and how this worker would read it.
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
    /// A progressive JPEG or interlaced PNG: needs the whole picture in memory.
    public var progressive: Bool
    /// How the pixels of each output would be read, in words: "grey at 1/2", "shrunk 1/4", "whole".
    public var decoderPaths: [String]
    /// An estimate of the bytes needed to render.
    public var memory: Int64

    public init(
        format: String, width: Int, height: Int, bands: Int, bitsPerSample: Int, pages: Int, orientation: Int,
        profile: String?, progressive: Bool, decoderPaths: [String], memory: Int64
    ) {
        self.format = format
        self.width = width
        self.height = height
        self.bands = bands
        self.bitsPerSample = bitsPerSample
        self.pages = pages
        self.orientation = orientation
        self.profile = profile
        self.progressive = progressive
        self.decoderPaths = decoderPaths
        self.memory = memory
    }
}

extension PictureHeader {
    /// The most that a worker may allocate for a picture that needs about so much. A decoder that takes far more than its header made us
    /// expect has gone wild.
    public static func memoryLimit(_ estimate: Int64) -> Int64 { ownMemory + 4 * estimate }

    /// What a worker has mapped before any picture, libraries and stacks of threads, with as much again for what estimates leave out.
    private static let ownMemory: Int64 = 1 << 30
}

/// Why a picture can't be rendered, in words for the person who dropped it.
public struct WorkerFailure: Codable, Sendable, Hashable, Error {
    /// The stage of a worker that tried what it may not.
    public static let confinement = "confinement"

    /// The stage it happened in: `open`, `resize`, a filter's name, `save`, or `confinement`.
    public var stage: String
    public var message: String
    /// What to do about it.
    public var advice: String?
    public var `class`: FailureClass
    /// The filter that is to blame, if it is one.
    public var filter: String?

    public init(
        stage: String, message: String, advice: String? = nil, class: FailureClass = .input, filter: String? = nil
    ) {
        self.filter = filter
        self.class = `class`
        self.stage = stage
        self.message = message
        self.advice = advice
    }
}
