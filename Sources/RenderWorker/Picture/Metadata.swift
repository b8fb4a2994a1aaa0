import CVips

/// The part of a picture's metadata that the result keeps.
enum Metadata: String {
    case keep, strip, copyright
    case keepWithoutPlace = "keep-without-place"

    /// Names, or prefixes of names, of libvips fields that belong to the file rather than to its pixels.
    private static let carried = [
        "exif-", "xmp-data", "iptc-data", "photoshop-data", "image-description", "png-comment-", "gif-comment",
        "orientation", "resolution-unit", attachedField,
    ]
    /// A field that lists parts of the source file, one per line. In a source's header, it lists the parts beside the
    /// picture; in a result's header, the parts that the result has lost.
    fileprivate static let attachedField = "attached-parts"

    /// A field that marks a loss: 16-bit samples became 8-bit, although the format of the result could hold more bits.
    static let narrowedField = "narrowed-samples"

    /// Copies the metadata to a picture whose pixels were decoded elsewhere.
    static func copy(from file: Picture, to picture: Picture) throws -> Picture {
        let image = file.image
        let result = try picture.then {
            cvips_set_resolution($0, $1, vips_image_get_xres(image), vips_image_get_yres(image))
        }
        copyFields(from: file, to: result)
        return result
    }

    /// Like `copy`, but changes `picture` itself, which must have no other user. A picture in memory stays in memory.
    static func add(from file: Picture, to picture: Picture) {
        picture.image.pointee.Xres = vips_image_get_xres(file.image)
        picture.image.pointee.Yres = vips_image_get_yres(file.image)
        copyFields(from: file, to: picture)
    }

    private static func copyFields(from file: Picture, to picture: Picture) {
        for name in file.fieldNames where isCarried(name) { picture.copyField(name, from: file) }
    }

    /// A picture without pixels that has the metadata of `file`, for pixels of this size that are stored elsewhere.
    static func header(of file: Picture, _ width: Int, _ height: Int, isGrey: Bool) throws -> Picture {
        let result = try file.header(width, height, isGrey: isGrey)
        // If the file's profile is unusable, `profile` is nil, and the result gets no profile.
        let hasProfile = !isGrey && file.profile != nil
        result.removeFields { !isCarried($0) && !(hasProfile && $0 == ICCProfile.field) }
        return result
    }

    /// Keeps only the fields that a file of `format` should get. The pixels are already upright, and in sRGB or grey.
    func apply(to result: Picture, for format: String) {
        let isWhole = self == .keep || self == .keepWithoutPlace
        // A profile for three colours does not fit a grey picture.
        if result.bands < 3 || self == .strip { result.removeField(ICCProfile.field) }
        if isWhole { result.declareSRGBInEXIF() }
        // Remove the thumbnail, which shows the picture before the filters.
        result.removeField("jpeg-thumbnail-data")
        // Without this field, encoders write orientation 1.
        result.removeField("orientation")
        // `GainMapPlan` decides whether the gain map is kept, so the gain map does not count as a dropped part here.
        let attached = result.dropped.compactMap(AttachedPart.init).filter { $0 != .gainMap }
        var unreadable: [String] = []
        switch self {
        case .keep, .keepWithoutPlace:
            let hasPlace = self == .keep
            if !hasPlace, !result.removePlace() { unreadable.append("EXIF") }
            if !result.cutXMP(keepingPlace: hasPlace) { unreadable.append("XMP") }
            if let xmp = result.blob("xmp-data") { result.setBlob("xmp-data", Self.upright(xmp: xmp)) }
            result.fitPhotoshop(to: format)
        case .strip:
            // Remove the fields here, because not every encoder strips: webpsave of libvips 8.14 keeps everything.
            result.removeFields(where: Self.isCarried)
        case .copyright:
            let exif = result.blob("exif-data").flatMap(EXIF.init(block:))?.copyright
            let kept = exif == nil ? [] : EXIF.copyrightFields
            let xmp = result.blob("xmp-data")
            let iptc = result.iptc.map { IPTC.keeping(OriginMarks.iptc, of: $0) } ?? []
            result.removeFields { Self.isCarried($0) && !kept.contains($0) }
            if let exif { result.setBlob("exif-data", exif.block) }
            if let xmp {
                let marks = OriginMarks.xmp(xmp)
                if marks == nil { unreadable.append("XMP") }
                result.replace("xmp-data", with: marks ?? [])
            }
            result.replace("iptc-data", with: iptc)
            result.fitPhotoshop(to: format)
        }
        result.setDropped(
            attached.filter { self != .strip || $0 != .manifest }.map(\.rawValue)
                + unreadable.map { "\($0) that can't be read" })
    }

    /// A copy of `picture` without metadata. The metadata is added later: from the original after a barrier, or as
    /// boxes in a JPEG XL file.
    static func bare(_ picture: Picture) throws -> Picture {
        let result = try picture.withOwnFields()
        result.removeFields(where: isCarried)
        return result
    }

    /// A black one-pixel picture with the metadata that `apply` left.
    static func pixel(of picture: Picture) throws -> Picture {
        let result = try copy(from: picture, to: .blank(1, 1, isGrey: picture.bands < 3))
        result.copyField(ICCProfile.field, from: picture)
        // libvips has derived these fields again from the EXIF block, which still contains them.
        result.removeField("jpeg-thumbnail-data")
        result.removeField("orientation")
        return result
    }

    /// Whether a saver may write the field into a file.
    static func isWritten(_ name: String) -> Bool { isCarried(name) || name == ICCProfile.field }

    private static func isCarried(_ name: String) -> Bool { carried.contains(where: name.hasPrefix) }

    /// Names of the metadata that `picture` has and the saved file lacks, because the file's format can't hold it. Nil
    /// if nothing is lost.
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
        if picture.hasField(narrowedField) { lost.append("16 bits a sample") }
        return lost.isEmpty ? nil : lost
    }

    /// A JPEG segment holds about this many bytes. Longer metadata is reported with its length, which may be the reason
    /// for the loss.
    private static let mostUsual = 60000

    /// Resets the orientation in XMP. XMP may repeat EXIF's orientation, as one digit in an attribute or an element.
    private static func upright(xmp: [UInt8]) -> [UInt8] {
        var result = xmp
        for opening in ["tiff:Orientation=\"", "tiff:Orientation='", "<tiff:Orientation>"] {
            var start = 0
            // Search the packet in a single pass, because XMP can be megabytes long.
            while let end = result.end(of: opening, from: start), end < result.count {
                if (UInt8(ascii: "2")...UInt8(ascii: "8")).contains(result[end]) { result[end] = UInt8(ascii: "1") }
                start = end
            }
        }
        return result
    }
}

extension Picture {
    /// The parts listed in `attachedField`.
    var dropped: [String] { text(Metadata.attachedField)?.split(separator: "\n").map(String.init) ?? [] }

    func setDropped(_ parts: [String]) {
        if parts.isEmpty {
            removeField(Metadata.attachedField)
        } else {
            setText(Metadata.attachedField, parts.joined(separator: "\n"))
        }
    }

    /// Removes XMP properties that refer to attached parts, such as a video, because the result does not have these
    /// parts. If `keepingPlace` is false, also removes properties that name the location. If the XMP is unreadable,
    /// removes all of it and returns false.
    fileprivate func cutXMP(keepingPlace: Bool) -> Bool {
        guard let xmp = blob("xmp-data"), !keepingPlace || AttachedPart.mayBePromised(in: xmp) else { return true }
        let cut = XMPPacket.cut(xmp) { name in
            AttachedPart.isPromised(by: name) || !keepingPlace && PlaceName.matches(name)
        }
        replace("xmp-data", with: cut ?? [])
        return cut != nil
    }

    /// Removes the location from all metadata except XMP. Returns false for unreadable EXIF, which is removed as a
    /// whole.
    fileprivate func removePlace() -> Bool {
        let block = blob("exif-data")
        let exif = block.flatMap(EXIF.init(block:))?.withoutPlace
        removeFields { name in
            name.hasPrefix("exif-") && (exif == nil || EXIF.mayRevealPlace(field: name))
                || name.hasPrefix("png-comment-") && Self.mayRevealPlace(comment: name)
        }
        if let exif { setBlob("exif-data", exif.block) }
        for field in ["iptc-data", "photoshop-data"] {
            guard let stored = blob(field) else { continue }
            if let resources = PhotoshopResources(stored)?.withoutPlace {
                replace(
                    field,
                    with: (stored.starts(with: PhotoshopResources.prefix) ? PhotoshopResources.prefix : [])
                        + resources.bytes)
            } else {
                replace(field, with: IPTC.isList(stored) ? IPTC.withoutPlace(stored) : [])
            }
        }
        return block.map(EXIF.isReadable) ?? true
    }

    /// Whether a PNG text may contain the location. ImageMagick writes whole blocks of metadata as texts, and EXIF
    /// fields under their own names.
    private static func mayRevealPlace(comment: String) -> Bool {
        // After the prefix, libvips' field name has a number and the text's key.
        let key = comment.dropFirst("png-comment-".count).drop { $0 != "-" }.dropFirst()
        return key.hasPrefix("Raw profile type") || PlaceName.matches(String(key.split(separator: ":").last ?? ""))
    }

    var hasComments: Bool { fieldNames.contains { $0.hasPrefix("png-comment-") || $0 == "gif-comment" } }

    /// IPTC's list, which may be among Photoshop's resources.
    fileprivate var iptc: [UInt8]? {
        blob("iptc-data").flatMap { PhotoshopResources($0)?.iptc ?? (IPTC.isList($0) ? $0 : nil) }
    }

    /// Removes the thumbnails from Photoshop's resources, and moves IPTC to where `format` has it: among the resources
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

    /// Sets the field, or removes it if it would be empty.
    func replace(_ field: String, with bytes: [UInt8]) {
        if bytes.isEmpty { removeField(field) } else { setBlob(field, bytes) }
    }
}
