import CVips
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

struct SourceFile {
    private let descriptor: Descriptor
    private let length: Int
    private let modified: timespec
    /// The bytes of the file, or of the preview in a camera's file.
    let content: SourceBytes
    let format: SourceFormat
    let size: Int
    var camera: CameraPicture?
    /// Whether a damaged picture is accepted, as far as it can be decoded.
    let acceptsDamage: Bool
    let decoders: Decoders

    init(
        _ descriptor: Descriptor, name: String, called words: String = "the picture",
        accepting acceptsDamage: Bool = false, raw: RawPolicy = .preview, maxTexts: Int64 = Settings.usualTexts,
        decoders: Decoders = Decoders()
    ) throws {
        (self.descriptor, self.acceptsDamage, self.decoders) = (descriptor, acceptsDamage, decoders)
        let status = try descriptor.status()
        let length = Int(status.st_size)
        (self.length, modified) = (length, status.st_mtim)
        let file = SourceBytes.file(descriptor, called: words)
        let format = try SourceFormat(sniffing: file.bytes(at: 0, SourceFormat.prefixLength)) { count in
            (try? file.bytes(at: max(0, length - count), count)) ?? []
        }
        if format == .png { try PNGTexts.check(size: length, most: Int(maxTexts), file.exactly) }
        guard format == .raw || format == .tiff && CameraRaw.isRaw(tiff: file.exactly, name: name) else {
            (content, size, self.format) = (file, length, format)
            return
        }
        let camera = try CameraPicture(file, size: length, name: name, raw, accepting: acceptsDamage)
        self.camera = camera
        if let preview = camera.preview {
            (content, size, self.format) = (.memory(preview), preview.count, .jpeg)
        } else {
            (content, size, self.format) = (file, length, .raw)
        }
    }

    /// Whether all pixels must be readable, including those that a result leaves out. For a camera's samples, the value
    /// is false, because developing reads all samples in any case.
    var isReadToItsEnd: Bool { !acceptsDamage && format != .raw }

    func hasChanged() throws -> Bool {
        let now = try descriptor.status()
        return Int(now.st_size) != length || now.st_mtim.tv_sec != modified.tv_sec
            || now.st_mtim.tv_nsec != modified.tv_nsec
    }

    /// Factors by which the picture can be shrunk while it is decoded, largest first.
    var shrinks: [Int] {
        switch format {
        case .jpeg, .webp: [8, 4, 2]
        case .tiff: pyramid.shrinks
        // A HEIF's thumbnail is no substitute: it is another picture, made by the file's writer.
        case .png, .gif, .heif, .avif, .bmp: []
        case .raw: camera?.shrinks ?? []
        }
    }

    /// Number of pictures among `pages`. Smaller copies of the first picture do not count.
    func pictures(among pages: Int) -> Int {
        switch format {
        case .tiff: pages - pyramid.pages
        // libvips reads only the first frame of an animated PNG.
        case .png: max(pages, framesOfPNG ?? 1)
        default: pages
        }
    }

    /// A lazy picture, to be read from top to bottom. `shrink` is 1, or a factor from `shrinks`. For a camera's
    /// samples, the result is only a header, because the samples must be developed first.
    func picture(shrink: Int = 1) throws -> Picture {
        if format == .bmp { return try BMPRows.picture(bmp, content, size: size) }
        if format == .raw, let camera {
            let blank = try camera.blank()
            addMetadata(to: blank)
            return blank
        }
        let picture = try loaded { source, out, failOn in
            switch format {
            case .jpeg: cvips_jpegload(source, out, failOn, Int32(shrink))
            case .png: cvips_pngload(source, out, failOn)
            case .webp: cvips_webpload(source, out, failOn, 1 / Double(shrink))
            case .tiff:
                shrink == 1
                    ? cvips_tiffload(source, out, failOn, 0, -1) : pyramid.load(source, out, failOn, shrink: shrink)
            case .gif: cvips_gifload(source, out, failOn)
            case .heif, .avif: cvips_heifload(source, out, failOn)
            // libvips does not load these formats.
            case .bmp, .raw: -1
            }
        }
        // Remove this field: otherwise libvips would treat a result as frames if its height is a multiple of the
        // field's value.
        picture.removeField("page-height")
        guard format == .png else { return picture }
        if acceptsDamage { return try PNGRows.present(of: picture, in: content, size: size) }
        return try pngPixels(of: picture)?.picture(like: picture) ?? picture
    }

    /// All frames in one picture, each below the previous one. For formats without frames, the picture itself.
    func strip() throws -> Picture {
        switch format {
        case .gif: try loaded(cvips_gifload_frames)
        case .webp: try loaded(cvips_webpload_frames)
        default: try picture()
        }
    }

    private func loaded(
        _ load: (UnsafeMutablePointer<VipsSource>, Picture.Output, VipsFailOn) -> Int32
    ) throws -> Picture {
        let end = acceptsDamage && format == .png ? PNGEnd(size: size, exactly) : nil
        guard let source = SourceReader.source(content, size: size, end: end) else {
            throw VipsError.take()
        }
        defer { g_object_unref(source) }
        // Warnings are not failures: many cameras write readable files that make a decoder warn.
        let failOn = acceptsDamage ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR
        let picture = try Picture.made { load(source, $0, failOn) }
        // Copy the metadata: a picture in memory may outlive the loader's picture, which owns the fields' bytes.
        cvips_own_blobs(picture.image)
        addMetadata(to: picture)
        return picture
    }

    /// Runs `body`, and turns a libvips error into a message for the person who dropped the picture.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError {
            // For these formats, check whether the file's end is missing. The decoders of all other formats report a
            // missing end themselves.
            let isCut = [.png, .webp, .heif, .avif, .bmp].contains(format) && !isWhole
            throw WorkerFailure(reading: error, of: format, isCut: isCut, accepted: acceptsDamage)
        }
    }

    /// At most `count` bytes from the start of the file.
    func bytes(_ count: Int = .max) throws -> [UInt8] {
        try content.bytes(at: 0, min(count, size))
    }

    var tiffDirectory: TIFFDirectory? { TIFFDirectory(exactly) }

    private var pyramid: TIFFPyramid { TIFFPyramid(tiffDirectory) }

    /// Whether the first frame of a WebP is lossless.
    var isLosslessWebP: Bool {
        var at = 12
        // The picture's chunk is near the start. A file that begins with 1000 other chunks is not a picture.
        for _ in 0..<1000 {
            guard let head = exactly(at, 8) else { break }
            let name = String(decoding: head[..<4], as: UTF8.self)
            if name == "VP8 " || name == "VP8L" { return name == "VP8L" }
            let length = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            // A frame's chunks lie within the frame's own chunk, after 16 bytes that include its position and duration.
            at += 8 + (name == "ANMF" ? 16 : length + length % 2)
        }
        return false
    }

    func exactly(_ start: Int, _ count: Int) -> [UInt8]? { content.exactly(start, count) }

    var bmp: BMP { get throws { try BMP(size: size, exactly) } }
}
