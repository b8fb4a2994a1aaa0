import CLinux
import CVips

/// What of a picture's metadata goes with the result.
enum Metadata: String {
    case keep, strip, copyright

    /// Fields of the file, as opposed to those of its pixels.
    private static let carried = [
        "exif-", "xmp-data", "iptc-data", "photoshop-data", "image-description", "orientation", "resolution-unit",
    ]

    /// For a picture whose pixels were decoded elsewhere.
    static func copy(from file: Picture, to picture: Picture) throws -> Picture {
        let image = file.image
        let result = try picture.then {
            cvips_set_resolution($0, $1, vips_image_get_xres(image), vips_image_get_yres(image))
        }
        for name in file.fieldNames where carried.contains(where: name.hasPrefix) { result.copyField(name, from: file) }
        return result
    }

    /// `picture` with what is to be written of its fields; the pixels are upright sRGB or grey by now.
    func apply(to picture: Picture) throws -> Picture {
        let result = try picture.withOwnFields()
        // It shows the picture as it was before the filters.
        result.removeField("jpeg-thumbnail-data")
        // The encoders write 1 then.
        result.removeField("orientation")
        // A profile for three colours says nothing of one.
        if result.bands < 3 { result.removeField(ICCProfile.field) }
        switch self {
        case .keep:
            if let xmp = result.blob("xmp-data") { result.setBlob("xmp-data", Self.upright(xmp: xmp)) }
        case .strip:
            break
        case .copyright:
            let exif = result.blob("exif-data").flatMap(CopyrightEXIF.init(of:))
            let kept = exif?.fields ?? []
            for name in result.fieldNames where Self.isPersonal(name) && !kept.contains(name) {
                result.removeField(name)
            }
            if let exif { result.setBlob("exif-data", exif.bytes) }
        }
        return result
    }

    private static func isPersonal(_ name: String) -> Bool {
        (carried + ["png-comment-", "gif-comment"]).contains(where: name.hasPrefix)
    }

    /// XMP may repeat the orientation, as one digit in an attribute or an element.
    private static func upright(xmp: [UInt8]) -> [UInt8] {
        var result = xmp
        for opening in ["tiff:Orientation=\"", "tiff:Orientation='", "<tiff:Orientation>"] {
            var start = 0
            // XMP can be megabytes long.
            while let end = result.end(of: opening, from: start), end < result.count {
                if (UInt8(ascii: "2")...UInt8(ascii: "8")).contains(result[end]) { result[end] = UInt8(ascii: "1") }
                start = end
            }
        }
        return result
    }
}

extension [UInt8] {
    /// Where the first such text from `start` on ends.
    fileprivate func end(of text: String, from start: Int) -> Int? {
        let at = withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            return clinux_find(rest.baseAddress, rest.count, text, text.utf8.count)
        }
        return at < 0 ? nil : start + at + text.utf8.count
    }
}
