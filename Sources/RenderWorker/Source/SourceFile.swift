import CVips
import Glibc
import SystemCalls
import WorkerProtocol

struct SourceFile {
    let descriptor: Descriptor
    let format: SourceFormat
    let size: Int
    private let modified: timespec
    /// The file's name in messages: the picture, or the result.
    private let words: String
    /// Whether the rest of a damaged picture is good enough.
    let acceptsDamage: Bool

    init(
        _ descriptor: Descriptor, name: String, called words: String = "the picture",
        accepting acceptsDamage: Bool = false
    ) throws {
        (self.descriptor, self.words, self.acceptsDamage) = (descriptor, words, acceptsDamage)
        let status = try descriptor.status()
        let size = Int(status.st_size)
        self.size = size
        modified = status.st_mtim
        format = try SourceFormat(
            sniffing: Self.read(descriptor, at: 0, SourceFormat.prefixLength, of: words)
        ) { count in
            (try? Self.read(descriptor, at: max(0, size - count), count, of: words)) ?? []
        }
        if format == .tiff, CameraRaw.isRaw(tiff: exactly, name: name) {
            throw SourceFormat.cameraRaw
        }
    }

    func hasChanged() throws -> Bool {
        let now = try descriptor.status()
        return Int(now.st_size) != size || now.st_mtim.tv_sec != modified.tv_sec
            || now.st_mtim.tv_nsec != modified.tv_nsec
    }

    /// The parts of the size to which it can be decoded, the smallest first.
    var shrinks: [Int] {
        switch format {
        case .jpeg, .webp: [8, 4, 2]
        case .tiff: pyramid.shrinks
        // A HEIF's thumbnail is another picture, made by the file's writer.
        case .png, .gif, .heif, .avif: []
        }
    }

    /// The number of pictures in so many pages. Smaller copies of the first picture do not count.
    func pictures(among pages: Int) -> Int { format == .tiff ? pages - pyramid.pages : pages }

    /// A lazy picture, read from top to bottom, shrunk as far as `shrinks` allows.
    func picture(shrink: Int = 1) throws -> Picture {
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
            }
        }
        // A result that is some times as high would be saved as so many frames.
        picture.removeField("page-height")
        return picture
    }

    /// All frames, each below the one before; of formats without frames the picture.
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
        guard let source = SourceReader.source(descriptor, size: size, end: end, of: words) else {
            throw VipsError.take()
        }
        defer { g_object_unref(source) }
        // Warnings don't fail: many cameras write readable files that make a decoder warn.
        let failOn = acceptsDamage ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR
        let picture = try Picture.made { load(source, $0, failOn) }
        // A picture in memory may outlive the loader's picture.
        cvips_own_blobs(picture.image)
        addMetadata(to: picture)
        return picture
    }

    /// Turns libvips' failure to read into a message for the person who dropped the picture.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as VipsError {
            // The decoders of other formats report a missing end themselves.
            let isCut = [.png, .webp, .heif, .avif].contains(format) && !isWhole
            throw WorkerFailure(reading: error, of: format, isCut: isCut)
        }
    }

    /// At most `count` bytes from the file's start.
    func bytes(_ count: Int = .max) throws -> [UInt8] {
        try Self.read(descriptor, at: 0, min(count, size), of: words)
    }

    var tiffDirectory: TIFFDirectory? { TIFFDirectory(exactly) }

    private var pyramid: TIFFPyramid { TIFFPyramid(tiffDirectory) }

    /// Whether its first frame is a lossless WebP.
    var isLosslessWebP: Bool {
        var at = 12
        // The picture comes early; a file of only small chunks is no picture.
        for _ in 0..<1000 {
            guard let head = exactly(at, 8) else { break }
            let name = String(decoding: head[..<4], as: UTF8.self)
            if name == "VP8 " || name == "VP8L" { return name == "VP8L" }
            let length = head[4...].reversed().reduce(0) { $0 << 8 | Int($1) }
            // A frame's chunks lie within it, behind its place and time.
            at += 8 + (name == "ANMF" ? 16 : length + length % 2)
        }
        return false
    }

    func exactly(_ start: Int, _ count: Int) -> [UInt8]? { Self.exactly(descriptor, at: start, count, of: words) }

    static func exactly(_ descriptor: Descriptor, at start: Int, _ count: Int, of file: String) -> [UInt8]? {
        guard let bytes = try? read(descriptor, at: start, count, of: file), bytes.count == count else { return nil }
        return bytes
    }

    private static func read(
        _ descriptor: Descriptor, at start: Int, _ count: Int, of file: String
    ) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            while used < count, let base = buffer.baseAddress {
                let got = uninterrupted { pread(descriptor.number, base + used, count - used, off_t(start + used)) }
                guard got >= 0 else {
                    ReadFailure.note(errno, of: file)
                    throw SystemError("read", file)
                }
                if got == 0 { return }
                used += got
            }
        }
    }
}
