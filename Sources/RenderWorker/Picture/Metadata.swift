import CVips

/// The part of a picture's metadata that goes with the result.
enum Metadata: String {
    case keep, strip, copyright

    /// Fields of the file, as opposed to those of its pixels.
    private static let carried = [
        "exif-", "xmp-data", "iptc-data", "photoshop-data", "image-description", "png-comment-", "gif-comment",
        "orientation", "resolution-unit",
    ]

    /// Copies the metadata to a picture whose pixels were decoded elsewhere.
    static func copy(from file: Picture, to picture: Picture) throws -> Picture {
        let image = file.image
        let result = try picture.then {
            cvips_set_resolution($0, $1, vips_image_get_xres(image), vips_image_get_yres(image))
        }
        for name in file.fieldNames where isCarried(name) { result.copyField(name, from: file) }
        return result
    }

    /// The metadata of `file` for pixels that are kept elsewhere: a picture of their size, without pixels.
    static func header(of file: Picture, _ width: Int, _ height: Int, isGrey: Bool) throws -> Picture {
        let result = try file.header(width, height, isGrey: isGrey)
        // A profile that is of no use goes with no result.
        let hasProfile = !isGrey && file.profile != nil
        result.removeFields { !isCarried($0) && !(hasProfile && $0 == ICCProfile.field) }
        return result
    }

    /// Leaves those fields that are written to a file of `format`. The pixels are upright sRGB or grey already.
    func apply(to result: Picture, for format: String) {
        // The thumbnail shows the picture before the filters.
        result.removeField("jpeg-thumbnail-data")
        // Without the field the encoders write 1.
        result.removeField("orientation")
        // A profile for three colours does not fit one.
        if result.bands < 3 || self == .strip { result.removeField(ICCProfile.field) }
        switch self {
        case .keep:
            if let xmp = result.blob("xmp-data") { result.setBlob("xmp-data", Self.upright(xmp: xmp)) }
            result.fitPhotoshop(to: format)
        case .strip:
            // Not every encoder strips: webpsave of libvips 8.14 keeps everything.
            result.removeFields(where: Self.isCarried)
        case .copyright:
            let exif = result.blob("exif-data").flatMap(EXIF.init(block:))?.copyright
            let kept = exif == nil ? [] : EXIF.copyrightFields
            result.removeFields { Self.isCarried($0) && !kept.contains($0) }
            if let exif { result.setBlob("exif-data", exif.block) }
        }
    }

    /// `picture` without its metadata, for a file between two renders. The next render takes the metadata from the
    /// original.
    static func bare(_ picture: Picture) throws -> Picture {
        let result = try picture.withOwnFields()
        result.removeFields(where: isCarried)
        return result
    }

    /// A black pixel with the metadata that `apply` has left.
    static func pixel(of picture: Picture) throws -> Picture {
        let result = try copy(from: picture, to: .blank(1, 1, isGrey: picture.bands < 3))
        result.copyField(ICCProfile.field, from: picture)
        // libvips takes them from the block of EXIF again, which was not changed.
        result.removeField("jpeg-thumbnail-data")
        result.removeField("orientation")
        return result
    }

    /// Whether a saver may write the field into a file.
    static func isWritten(_ name: String) -> Bool { isCarried(name) || name == ICCProfile.field }

    private static func isCarried(_ name: String) -> Bool { carried.contains(where: name.hasPrefix) }

    /// Names of the metadata that `picture` has and the saved file, by its fields, lacks, because its format can't hold it. Nil
    /// if none is lost.
    static func lost(
        _ picture: Picture, where isSaved: (_ field: String) -> Bool, hasComments: Bool = false
    ) -> [String]? {
        let names = [
            ("exif-data", "EXIF"), ("xmp-data", "XMP"), ("iptc-data", "IPTC"), ("photoshop-data", "Photoshop's data"),
        ]
        var lost = names.filter { picture.hasField($0.0) && !isSaved($0.0) }.map { field, name in
            let bytes = picture.blob(field)?.count ?? 0
            return bytes > mostUsual ? "\(name) of \(bytes) bytes" : name
        }
        if picture.hasComments, !hasComments { lost.append("comments") }
        return lost.isEmpty ? nil : lost
    }

    /// A JPEG holds about so many bytes in one piece. The length of longer metadata is reported, because it may be the
    /// reason.
    private static let mostUsual = 60000

    /// XMP may repeat the orientation, as one digit in an attribute or an element.
    private static func upright(xmp: [UInt8]) -> [UInt8] {
        var result = xmp
        for opening in ["tiff:Orientation=\"", "tiff:Orientation='", "<tiff:Orientation>"] {
            var start = 0
            // The search is linear, because XMP can be megabytes long.
            while let end = result.end(of: opening, from: start), end < result.count {
                if (UInt8(ascii: "2")...UInt8(ascii: "8")).contains(result[end]) { result[end] = UInt8(ascii: "1") }
                start = end
            }
        }
        return result
    }
}

extension Picture {
    var hasComments: Bool { fieldNames.contains { $0.hasPrefix("png-comment-") || $0 == "gif-comment" } }

    /// Takes the thumbnails out of Photoshop's resources, and moves IPTC to where `format` has it: among the resources
    /// in a JPEG, beside them in a TIFF.
    fileprivate func fitPhotoshop(to format: String) {
        if let beside = blob("photoshop-data").flatMap(PhotoshopResources.init) {
            replace("photoshop-data", with: beside.bytes)
        }
        guard let stored = blob("iptc-data") else { return }
        if let resources = PhotoshopResources(stored) {
            if format == "tiff", !resources.withoutIPTC.isEmpty { setBlob("photoshop-data", resources.withoutIPTC) }
            let prefixed = resources.bytes.isEmpty ? [] : PhotoshopResources.prefix + resources.bytes
            replace("iptc-data", with: format == "tiff" ? resources.iptc ?? [] : prefixed)
        } else if format == "jpeg", stored.first == 0x1c {
            setBlob("iptc-data", PhotoshopResources.prefix + PhotoshopResources(iptc: stored).bytes)
        }
    }

    /// Removes the field when it would be empty.
    private func replace(_ field: String, with bytes: [UInt8]) {
        if bytes.isEmpty { removeField(field) } else { setBlob(field, bytes) }
    }
}
