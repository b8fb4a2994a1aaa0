import WorkerProtocol

/// A picture's kind, told by its first bytes; never by its name, and never by asking every decoder.
enum SourceFormat: String {
    case jpeg, png, webp, tiff, gif, heif, avif

    static let prefixLength = 64

    init(sniffing prefix: [UInt8], name: String) throws(WorkerFailure) {
        func starts(_ text: String, at offset: Int = 0) -> Bool {
            prefix.dropFirst(offset).starts(with: Array(text.utf8))
        }
        func starts(_ bytes: [UInt8]) -> Bool { prefix.starts(with: bytes) }
        guard !prefix.isEmpty else {
            throw WorkerFailure(stage: "open", message: "the file is empty", advice: "copy it again")
        }
        let isTIFF = starts([0x49, 0x49, 0x2a, 0]) || starts([0x4d, 0x4d, 0, 0x2a])
        let isBigTIFF = starts([0x49, 0x49, 0x2b, 0]) || starts([0x4d, 0x4d, 0, 0x2b])
        if starts([0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if starts("RIFF"), starts("WEBP", at: 8) {
            self = .webp
        } else if isTIFF && !starts("CR", at: 8) || isBigTIFF {
            self = .tiff
        } else if starts("GIF8") {
            self = .gif
        } else if starts("ftyp", at: 4), let format = Self.isoFormat(prefix) {
            self = format
        } else {
            throw Self.refusal(prefix, starts)
        }
    }

    /// HEIF and AVIF share a container; its brands tell them apart.
    private static func isoFormat(_ prefix: [UInt8]) -> SourceFormat? {
        let brands = stride(from: 8, to: prefix.count - 3, by: 4).map {
            String(decoding: prefix[$0..<$0 + 4], as: UTF8.self)
        }
        if brands.contains(where: ["avif", "avis"].contains) { return .avif }
        if brands.contains(where: ["heic", "heix", "heim", "heis", "hevc", "mif1", "msf1"].contains) { return .heif }
        return nil
    }

    private static func refusal(_ prefix: [UInt8], _ starts: (String, Int) -> Bool) -> WorkerFailure {
        let raws =
            starts("CR", 8) || starts("FUJIFILM", 0) || starts("IIU\0", 0) || starts("IIRO", 0)
            || starts("IIRS", 0) || starts("ftypcrx", 4)
        if raws {
            return WorkerFailure(
                stage: "open", message: "a camera's RAW file is not read", advice: "export it as JPEG or TIFF")
        }
        let isText = prefix.allSatisfy { $0 >= 32 && $0 != 127 || [9, 10, 13].contains($0) }
        let looks =
            if starts("%PDF", 0) { "a PDF document" } else if starts("<svg", 0) || starts("<?xml", 0) {
                "an SVG or XML document"
            } else if starts("PK", 0) { "an archive" } else if isText { "text" } else { "something else" }
        return WorkerFailure(
            stage: "open",
            message: "this is no picture that pipelined reads (it looks like \(looks))",
            advice: "JPEG, PNG, WebP, TIFF, GIF, HEIC and AVIF are read")
    }
}
