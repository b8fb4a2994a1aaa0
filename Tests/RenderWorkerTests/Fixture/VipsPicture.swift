import CVips
import SystemCalls

/// A libvips picture that a test owns.
final class VipsPicture {
    let image: UnsafeMutablePointer<VipsImage>

    init(owning image: UnsafeMutablePointer<VipsImage>) { self.image = image }

    deinit { g_object_unref(image) }

    convenience init(_ pixels: Pixels, is16Bit: Bool) throws {
        let bytes = is16Bit ? [] : pixels.samples.map { UInt8($0) }
        let (format, length) = is16Bit ? (VIPS_FORMAT_USHORT, 2) : (VIPS_FORMAT_UCHAR, 1)
        func image(_ memory: UnsafeRawPointer?) -> UnsafeMutablePointer<VipsImage>? {
            vips_image_new_from_memory_copy(
                memory, pixels.samples.count * length, Int32(pixels.width), Int32(pixels.height), Int32(pixels.bands),
                format)
        }
        guard let made = is16Bit ? image(pixels.samples) : image(bytes) else { throw Unexpected(Self.error) }
        made.pointee.Type =
            switch (pixels.bands < 3, is16Bit) {
            case (true, false): VIPS_INTERPRETATION_B_W
            case (true, true): VIPS_INTERPRETATION_GREY16
            case (false, false): VIPS_INTERPRETATION_sRGB
            case (false, true): VIPS_INTERPRETATION_RGB16
            }
        self.init(owning: made)
    }

    /// Loads a file. libvips chooses the loader by the first bytes.
    convenience init(_ file: TemporaryFile) throws {
        // The tests are not linked to the JPEG XL loader, which is a module, so the `vips` command converts the file.
        let file = try file.isJXL ? VipsTool.run("copy", file, suffix: ".png") : file
        let descriptor = try file.reopened()
        guard let source = vips_source_new_from_descriptor(descriptor.number) else { throw Unexpected(Self.error) }
        defer { g_object_unref(source) }
        let start = try file.bytes.prefix(12)
        var loaded: UnsafeMutablePointer<VipsImage>?
        let status =
            switch start.first {
            case 0xff: cvips_jpegload(source, &loaded, VIPS_FAIL_ON_ERROR, 1)
            case 0x89: cvips_pngload(source, &loaded, VIPS_FAIL_ON_ERROR)
            case UInt8(ascii: "G"): cvips_gifload(source, &loaded, VIPS_FAIL_ON_ERROR)
            case UInt8(ascii: "R"): cvips_webpload(source, &loaded, VIPS_FAIL_ON_ERROR, 1)
            case UInt8(ascii: "I"), UInt8(ascii: "M"): cvips_tiffload(source, &loaded, VIPS_FAIL_ON_ERROR, 0, -1)
            default: cvips_heifload(source, &loaded, VIPS_FAIL_ON_ERROR)
            }
        guard status == 0, let loaded else { throw Unexpected(Self.error) }
        self.init(owning: loaded)
    }

    /// All frames of a GIF or WebP, stacked from top to bottom.
    convenience init(framesOf file: TemporaryFile) throws {
        let descriptor = try file.reopened()
        guard let source = vips_source_new_from_descriptor(descriptor.number) else { throw Unexpected(Self.error) }
        defer { g_object_unref(source) }
        let isGIF = try file.bytes.first == UInt8(ascii: "G")
        var loaded: UnsafeMutablePointer<VipsImage>?
        let status =
            isGIF
            ? cvips_gifload_frames(source, &loaded, VIPS_FAIL_ON_ERROR)
            : cvips_webpload_frames(source, &loaded, VIPS_FAIL_ON_ERROR)
        guard status == 0, let loaded else { throw Unexpected(Self.error) }
        self.init(owning: loaded)
    }

    func then(
        _ operation: (UnsafeMutablePointer<VipsImage>, UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32
    )
        throws -> VipsPicture
    {
        var result: UnsafeMutablePointer<VipsImage>?
        guard operation(image, &result) == 0, let result else { throw Unexpected(Self.error) }
        return VipsPicture(owning: result)
    }

    func bands(_ first: Int, _ count: Int) throws -> VipsPicture {
        try then { cvips_extract_bands($0, $1, Int32(first), Int32(count)) }
    }

    func joined(with other: VipsPicture) throws -> VipsPicture {
        var images: [UnsafeMutablePointer<VipsImage>?] = [image, other.image]
        return try then { cvips_bandjoin(&images, $1, 2) }
    }

    /// Converts from one libvips profile to another. If the picture has a profile, it replaces `from`.
    func transformed(from: String, to: String) throws -> VipsPicture {
        let depth: Int32 = is16Bit ? 16 : 8
        return try then { cvips_icc_transform($0, $1, to, from, VIPS_INTENT_RELATIVE, depth) }
    }

    /// Returns a copy in memory with 8 bits per sample, which can be read repeatedly.
    func inMemory() throws -> VipsPicture {
        let factor = is16Bit ? 1.0 / 257 : 1
        let space = image.pointee.Bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
        let narrow = try then { cvips_linear($0, $1, factor) }.then { cvips_rint($0, $1) }
            .then { cvips_cast($0, $1, VIPS_FORMAT_UCHAR, 0) }.then { cvips_reinterpret($0, $1, space) }
        guard let copy = vips_image_copy_memory(narrow.image) else { throw Unexpected(Self.error) }
        return VipsPicture(owning: copy)
    }

    /// Returns the largest difference of a sample, or nil if the sizes or the numbers of bands differ.
    func distance(_ other: VipsPicture) throws -> Int? {
        let ours = try inMemory(), theirs = try other.inMemory()
        guard ours.image.pointee.Xsize == theirs.image.pointee.Xsize,
            ours.image.pointee.Ysize == theirs.image.pointee.Ysize,
            ours.image.pointee.Bands == theirs.image.pointee.Bands
        else { return nil }
        let count = Int(ours.image.pointee.Xsize * ours.image.pointee.Ysize * ours.image.pointee.Bands)
        guard let left = ours.image.pointee.data ?? nil, let right = theirs.image.pointee.data ?? nil else {
            return nil
        }
        return (0..<count).map { abs(Int(left[$0]) - Int(right[$0])) }.max()
    }

    func pixels() throws -> Pixels {
        var length = 0
        guard let memory = vips_image_write_to_memory(image, &length) else { throw Unexpected(Self.error) }
        defer { g_free(memory) }
        let bytes = UnsafeRawBufferPointer(start: memory, count: length)
        var pixels = Pixels(1, 1) { _, _ in [0] }
        (pixels.width, pixels.height) = (Int(image.pointee.Xsize), Int(image.pointee.Ysize))
        pixels.bands = Int(image.pointee.Bands)
        pixels.samples = is16Bit ? Array(bytes.bindMemory(to: UInt16.self)) : bytes.map { UInt16($0) }
        return pixels
    }

    var is16Bit: Bool { image.pointee.BandFmt == VIPS_FORMAT_USHORT }

    func has(_ field: String) -> Bool { vips_image_get_typeof(image, field) != 0 }

    func text(_ field: String) -> String? {
        var text: UnsafePointer<CChar>?
        guard has(field), vips_image_get_string(image, field, &text) == 0 else { return nil }
        return text.map { String(cString: $0) }
    }

    /// Returns the value of an EXIF field. Omits the description that libvips adds in parentheses, and the space that
    /// libvips 8.16 adds to a copyright.
    func exif(_ field: String) -> String? {
        guard let text = text("exif-\(field)"), let end = text.firstRange(of: " (") else { return nil }
        let value = text[..<end.lowerBound]
        return String(value.hasSuffix(" ") ? value.dropLast() : value)
    }

    func integer(_ field: String) -> Int? {
        var number: Int32 = 0
        return has(field) && vips_image_get_int(image, field, &number) == 0 ? Int(number) : nil
    }

    func blob(_ field: String) -> [UInt8]? {
        var bytes: UnsafeRawPointer?
        var length = 0
        guard has(field), vips_image_get_blob(image, field, &bytes, &length) == 0, let bytes else { return nil }
        return Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }

    func set(_ field: String, _ value: Int) { vips_image_set_int(image, field, Int32(value)) }

    func set(_ field: String, _ text: String) { vips_image_set_string(image, field, text) }

    func set(_ field: String, _ blob: [UInt8]) { vips_image_set_blob_copy(image, field, blob, blob.count) }

    static var error: String {
        defer { vips_error_clear() }
        return String(cString: vips_error_buffer())
    }
}
