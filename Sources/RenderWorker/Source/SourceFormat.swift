import WorkerProtocol

/// A picture's format, recognised by the file's first bytes, not by its name, and without trying any decoder.
enum SourceFormat: String {
    case jpeg, png, webp, tiff, gif, heif, avif, bmp
    /// A camera's file. If its embedded preview is used, `SourceFile.format` is `jpeg` instead.
    case raw

    static let prefixLength = 64

    private static let advice = "JPEG, PNG, WebP, TIFF, GIF, HEIC, AVIF, BMP and cameras' raw files are read"

    /// `end` reads the file's last bytes, because some formats have their signature there.
    init(sniffing prefix: [UInt8], end: (_ count: Int) -> [UInt8]) throws(WorkerFailure) {
        func starts(_ text: String, at offset: Int = 0) -> Bool { prefix.dropFirst(offset).starts(with: text.utf8) }
        let tiffs: [[UInt8]] = [
            [0x49, 0x49, 0x2a, 0], [0x4d, 0x4d, 0, 0x2a], [0x49, 0x49, 0x2b, 0], [0x4d, 0x4d, 0, 0x2b],
        ]
        guard !prefix.isEmpty else {
            throw WorkerFailure(stage: "open", message: "the file is empty", advice: "copy it again from where it came")
        }
        if CameraRaw.isRaw(prefix: prefix) {
            self = .raw
        } else if prefix.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if prefix.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if starts("RIFF"), starts("WEBP", at: 8) {
            self = .webp
        } else if tiffs.contains(where: prefix.starts(with:)) {
            self = .tiff
        } else if starts("GIF87a") || starts("GIF89a") {
            self = .gif
        } else if starts("ftyp", at: 4), let format = Self.container(prefix) {
            self = format
        } else if BMP.isBMP(prefix) {
            self = .bmp
        } else if let name = SimpleFormat.name(prefix, end: end) {
            throw WorkerFailure(
                stage: "open",
                message: "this is a \(name) picture, which pipelined does not read: libvips' reader for it is not safe "
                    + "with strangers' files",
                advice: "save it as PNG or TIFF, then drop that; \(Self.advice)")
        } else {
            throw WorkerFailure(
                stage: "open",
                message: "this is no picture that pipelined reads"
                    + (Self.guess(prefix).map { " (it looks like \($0))" } ?? ""),
                advice: Self.advice)
        }
    }

    /// The format for `format=same`. HEIC becomes JPEG, because HEIC's encoder is slow, and Safari is the only browser
    /// that shows HEIC. Phones also convert HEIC to JPEG when they send a picture. BMP becomes PNG, without loss.
    var written: String {
        switch self {
        case .heif, .raw: Self.jpeg.rawValue
        case .bmp: Self.png.rawValue
        default: rawValue
        }
    }

    /// HEIF and AVIF share a container. The brands in the container distinguish the two formats.
    private static func container(_ prefix: [UInt8]) -> SourceFormat? {
        let brands = stride(from: 8, to: prefix.count - 3, by: 4).map {
            String(decoding: prefix[$0..<$0 + 4], as: UTF8.self)
        }
        if brands.contains(where: ["avif", "avis"].contains) { return .avif }
        let ofHEIF = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]
        return brands.contains(where: ofHEIF.contains) ? .heif : nil
    }

    private static func guess(_ prefix: [UInt8]) -> String? {
        let signs: [(offset: Int, text: String, looks: String)] = [
            (0, "%PDF", "a PDF document"), (0, "<svg", "an SVG drawing"), (0, "<?xml", "an SVG or XML document"),
            (0, "<!DOC", "a web page"), (0, "<html", "a web page"), (0, "PK\u{3}\u{4}", "a ZIP archive"),
            (0, "8BPS", "a Photoshop document"), (4, "JXL ", "a JPEG XL picture"),
            (4, "jP  ", "a JPEG 2000 picture"), (4, "ftyp", "a film"), (0, "\u{1a}E", "a film"),
        ]
        if let sign = signs.first(where: { prefix.dropFirst($0.offset).starts(with: $0.text.utf8) }) {
            return sign.looks
        }
        if prefix.starts(with: [0xff, 0x4f, 0xff, 0x51]) { return "a JPEG 2000 picture" }
        if prefix.starts(with: [0xff, 0x0a]) { return "a JPEG XL picture" }
        let isText = prefix.allSatisfy { $0 >= 32 && $0 != 127 || [9, 10, 13].contains($0) }
        return isText ? "text" : nil
    }
}
