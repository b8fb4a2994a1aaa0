import CVips

/// A lazy libvips picture. A method returns a new picture at once; the pixels are computed when the result is saved.
/// The methods have libvips' names (`extractBand` is `extract_band`), and libvips documents them:
/// https://www.libvips.org/API/8.14/
public struct Image: Sendable {
    let reference: Reference

    /// Owns one reference to a libvips image.
    ///
    /// `@unchecked`: the image does not change once it is made, and its reference count is atomic.
    final class Reference: @unchecked Sendable {
        let image: UnsafeMutablePointer<VipsImage>

        init(owning image: UnsafeMutablePointer<VipsImage>) { self.image = image }

        deinit { g_object_unref(image) }
    }

    init(owning image: UnsafeMutablePointer<VipsImage>) { reference = Reference(owning: image) }

    init(borrowing image: UnsafeMutablePointer<VipsImage>) {
        g_object_ref(image)
        self.init(owning: image)
    }

    /// Returns the libvips image with an additional reference, which the caller must release.
    func handedOver() -> UnsafeMutablePointer<VipsImage> {
        g_object_ref(pointer)
        return pointer
    }

    var pointer: UnsafeMutablePointer<VipsImage> { reference.image }

    // MARK: - Properties

    public var width: Int { Int(vips_image_get_width(pointer)) }
    public var height: Int { Int(vips_image_get_height(pointer)) }
    public var bands: Int { Int(vips_image_get_bands(pointer)) }
    /// Whether the last band is alpha.
    public var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// The number of colour bands: 1 or 3.
    public var colours: Int { bands - (hasAlpha ? 1 : 0) }
    public var is16Bit: Bool { vips_image_get_format(pointer) == VIPS_FORMAT_USHORT }
    /// The largest value of a sample, which is white.
    public var white: Double { is16Bit ? 65535 : 255 }
    /// The libvips name of the interpretation: `srgb`, `b-w`, `rgb16`, `grey16`, ….
    public var interpretation: String {
        String(cString: vips_enum_nick(vips_interpretation_get_type(), vips_image_get_interpretation(pointer).rawValue))
    }
    /// The libvips name of the sample type: `uchar`, `ushort`, `float`, ….
    public var format: String {
        String(cString: vips_enum_nick(vips_band_format_get_type(), vips_image_get_format(pointer).rawValue))
    }
}
