import CVips

/// Owns a reference to a lazy libvips picture.
final class Picture: SizedPixels {
    let image: UnsafeMutablePointer<VipsImage>

    init(owning image: UnsafeMutablePointer<VipsImage>) {
        self.image = image
    }

    deinit {
        g_object_unref(image)
    }

    var width: Int { Int(vips_image_get_width(image)) }
    var height: Int { Int(vips_image_get_height(image)) }
    var bands: Int { Int(vips_image_get_bands(image)) }
    var format: VipsBandFormat { vips_image_get_format(image) }
    var interpretation: VipsInterpretation { vips_image_get_interpretation(image) }
    var hasAlpha: Bool { vips_image_hasalpha(image) != 0 }
    var bytesPerSample: Int { Int(vips_format_sizeof(format)) }

    typealias Output = UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>

    /// The picture that a libvips operation makes.
    static func made(by operation: (Output) -> Int32) throws(VipsError) -> Picture {
        var result: UnsafeMutablePointer<VipsImage>?
        guard operation(&result) == 0, let result else { throw VipsError.take() }
        return Picture(owning: result)
    }

    /// A black picture with 8 bits per sample.
    static func blank(_ width: Int, _ height: Int, isGrey: Bool) throws -> Picture {
        try made { cvips_black($0, Int32(width), Int32(height), isGrey ? 1 : 3) }
            .interpreted(isGrey ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB)
    }

    /// A picture of the given size that has this picture's fields, but no pixels.
    func header(_ width: Int, _ height: Int, isGrey: Bool) throws -> Picture {
        guard let header = cvips_header(image) else { throw VipsError.take() }
        vips_image_init_fields(
            header, Int32(width), Int32(height), isGrey ? 1 : 3, VIPS_FORMAT_UCHAR, VIPS_CODING_NONE,
            isGrey ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB, vips_image_get_xres(image),
            vips_image_get_yres(image))
        return Picture(owning: header)
    }

    /// A picture of one or three bands in memory. `paint` fills all its rows; the result is nil if `paint` returns
    /// false.
    static func painted(
        _ width: Int32, _ height: Int32, bands: Int32 = 1, is16Bit: Bool = false,
        _ paint: (UnsafeMutablePointer<UInt8>) -> Bool
    ) -> Picture? {
        guard let image = vips_image_new_memory() else { return nil }
        let picture = Picture(owning: image)
        let space =
            switch (bands, is16Bit) {
            case (1, false): VIPS_INTERPRETATION_B_W
            case (1, true): VIPS_INTERPRETATION_GREY16
            case (_, false): VIPS_INTERPRETATION_sRGB
            case (_, true): VIPS_INTERPRETATION_RGB16
            }
        vips_image_init_fields(
            image, width, height, bands, is16Bit ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR, VIPS_CODING_NONE, space, 1, 1
        )
        guard vips_image_write_prepare(image) == 0, let pixels = image.pointee.data else { return nil }
        return paint(pixels) ? picture : nil
    }

    /// The result of a libvips operation on this picture.
    func then(_ operation: (UnsafeMutablePointer<VipsImage>, Output) -> Int32) throws(VipsError) -> Picture {
        try Self.made { operation(image, $0) }
    }

    /// All pixels in memory, for operations that don't read from top to bottom.
    func inMemory(_ cancellation: Cancellation) throws -> Picture {
        try cancellation.guarding(self, encoding: 0, inMemory)
    }

    /// Like `inMemory(_:)`, but for a small picture, and without cancellation.
    func inMemory() throws -> Picture {
        guard let copy = vips_image_copy_memory(image) else { throw VipsError.take() }
        return Picture(owning: copy)
    }
}
