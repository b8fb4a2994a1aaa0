import CVips
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// The encoders that a machine may lack, and whether they are available.
enum Encoders {
    /// Formats that this machine can't write.
    static let missing = [
        hasAV1 ? nil : MissingEncoder(format: "avif", remedy: "install what Debian calls libheif-plugin-aomenc"),
        has("gifsave_target") ? nil : MissingEncoder(format: "gif", remedy: library(with: "cgif")),
        // A worker without `--jxl` has not loaded the JPEG XL module, so only check that the module's file exists.
        writesJXL || Vips.module(Vips.jxlModule).map(FileSystem.mayExist) == true ? nil : jxl,
    ].compactMap(\.self)

    static func check(_ format: String) throws(WorkerFailure) {
        // For JPEG XL, check that its module is loaded. The module's file alone proves nothing, because a library that
        // the module needs may be missing.
        let lack = format == jxl.format ? (writesJXL ? nil : jxl) : missing.first { $0.format == format }
        if let lack { throw WorkerFailure(lack) }
    }

    private static let jxl = MissingEncoder(format: "jxl", remedy: library(with: "JPEG XL"))
    private static var writesJXL: Bool { has("jxlsave_target") }

    private static func library(with part: String) -> String {
        "install a libvips with \(part), such as Debian's libvips42\(Vips.isAtLeast(8, 15, 0) ? "t64" : "")"
    }

    private static func has(_ operation: String) -> Bool { vips_type_find("VipsOperation", operation) != 0 }

    /// Whether libheif has an AV1 encoder. The encoder, for example libaom, may be a separate plugin of libheif.
    private static var hasAV1: Bool {
        guard has("heifsave_target"), let address = dlsym(nil, "heif_have_encoder_for_format") else { return false }
        let compression = VIPS_FOREIGN_HEIF_COMPRESSION_AV1.rawValue
        return unsafeBitCast(address, to: (@convention(c) (UInt32) -> Int32).self)(compression) != 0
    }
}
