import CVips
import Foundation
import SystemCalls

/// Owns a reference to a libvips image.
final class Raster {
    typealias Output = UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>

    let image: UnsafeMutablePointer<VipsImage>

    init(owning image: UnsafeMutablePointer<VipsImage>) { self.image = image }

    deinit { g_object_unref(image) }

    var width: Int { Int(vips_image_get_width(image)) }
    var height: Int { Int(vips_image_get_height(image)) }
    var bands: Int { Int(vips_image_get_bands(image)) }

    /// Reads a result, which is a PNG.
    static func reading(_ file: Descriptor) throws -> Raster {
        guard let source = vips_source_new_from_descriptor(file.number) else { throw FilterTrouble.ofVips() }
        defer { g_object_unref(source) }
        return try made { cvips_pngload(source, $0, VIPS_FAIL_ON_ERROR) }
    }

    /// The image that a libvips operation makes.
    static func made(by operation: (Output) -> Int32) throws -> Raster {
        var result: UnsafeMutablePointer<VipsImage>?
        guard operation(&result) == 0, let result else { throw FilterTrouble.ofVips() }
        return Raster(owning: result)
    }

    func then(_ operation: (UnsafeMutablePointer<VipsImage>, Output) -> Int32) throws -> Raster {
        try Self.made { operation(image, $0) }
    }

    func inMemory() throws -> Raster {
        guard let copy = vips_image_copy_memory(image) else { throw FilterTrouble.ofVips() }
        return Raster(owning: copy)
    }
}

extension FilterTrouble {
    /// The messages of libvips about the latest failure.
    static func ofVips() -> FilterTrouble {
        guard let text = vips_error_buffer_copy() else { return FilterTrouble("libvips gives no reason") }
        defer { g_free(text) }
        return FilterTrouble(String(cString: text).trimmingCharacters(in: .newlines))
    }
}
