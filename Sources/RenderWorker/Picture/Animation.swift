import CVips
import WorkerProtocol

/// An animation: frames of the same size, each with its own duration.
struct Animation {
    let frames: Int
    /// A frame's height. All frames are read as one picture, each below the previous one.
    let height: Int

    private let source: SourceFile
    /// The original file, which has the frames' times. After a barrier, `source` is another file, without times.
    private let original: SourceFile

    private static let times = ["delay", "loop"]

    /// Nil for a still picture. `file` is the header of `source`. After a barrier, `source` has all frames in one tall
    /// picture, and `original` is the original file. Before a barrier, `original` is nil.
    init?(_ source: SourceFile, _ file: Picture, original: SourceFile?) throws {
        self.source = source
        self.original = original ?? source
        guard self.original.isAnimation else { return nil }
        let header = try original.map { original in try original.reading { try original.picture() } } ?? file
        frames = header.integer("n-pages") ?? 1
        height = original == nil ? file.height : file.height / max(1, frames)
        // libvips accepts a truncated GIF as complete, so check the file's end here.
        try self.original.refuseMissingEnd()
        guard frames > 1, height > 0, original == nil || file.height == height * frames else { return nil }
    }

    /// All frames as one picture, which is read from top to bottom.
    func strip() throws -> Picture { try source.strip() }

    /// One frame in memory, as an ordinary picture. Frames must be requested in order.
    func frame(_ number: Int, of strip: Picture) throws -> Picture {
        let pixels = try strip.then { cvips_rows($0, $1, Int32(number * height), Int32(height)) }
        let frame = try Metadata.copy(from: strip, to: pixels)
        frame.copyField(ICCProfile.field, from: strip)
        return frame
    }

    /// The header of one frame, made from the strip's header.
    func header(of strip: Picture) throws -> Picture {
        try strip.then { cvips_crop($0, $1, 0, 0, Int32(strip.width), Int32(height)) }
    }

    /// Copies the original's frame times to a result's strip, and records the height of a frame.
    func complete(_ strip: Picture, frameHeight: Int) throws {
        let header = try original.reading { try original.strip() }
        for field in Self.times { strip.copyField(field, from: header) }
        vips_image_set_int(strip.image, "page-height", Int32(frameHeight))
    }
}

extension SourceFile {
    /// Whether the format can hold an animation.
    fileprivate var isAnimation: Bool { format == .gif || format == .webp }
}

extension Picture {
    /// The height of one frame; for a still picture, the height of the picture.
    var frameHeight: Int {
        guard let height = integer("page-height"), height > 0, self.height.isMultiple(of: height) else {
            return self.height
        }
        return height
    }

    var frames: Int { height / frameHeight }
}
