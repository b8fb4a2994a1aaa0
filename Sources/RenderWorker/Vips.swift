import CLinux
import CVips
import Foundation
import Glibc
import SystemCalls

/// Starts libvips for a worker, with one thread per pipeline. Disables the cache, untrusted loaders, temporary files
/// and printed messages.
enum Vips {
    /// Loads JPEG XL's module only on request, because loading takes some milliseconds.
    static func start(writesJXL: Bool = false) -> Bool {
        // Never spill to temporary files: memory is budgeted before a picture is admitted.
        setenv("VIPS_DISC_THRESHOLD", "1000g", 1)
        g_log_set_default_handler(
            { _, level, text, _ in
                // The handler receives messages of every level, including informational ones.
                if level.rawValue & G_LOG_LEVEL_WARNING.rawValue != 0 { VipsWarning.note(text) }
            }, nil)
        // At startup libvips would load every module below VIPSHOME, so point it to a missing folder. Loading
        // ImageMagick, poppler, OpenSlide and JPEG XL takes longer than the rest of the startup, and no picture may use
        // their loaders. The needed modules are loaded below.
        setenv("VIPSHOME", "/nonexistent", 1)
        guard vips_init("pipelined-render") == 0 else { return false }
        load("vips-heif.so")
        if writesJXL { load(jxlModule) }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_block_untrusted_set(1)
        // libvips marks both JPEG XL's loader and its saver as untrusted. The saver reads no file, so allow it.
        vips_operation_block_set("VipsForeignSaveJxl", 0)
        // Load the time zone now: LibRaw uses it, and a confined process can't open its file. While TZ is set, glibc
        // keeps the zone that it loaded here; otherwise it would check the file again.
        setenv("TZ", ":/etc/localtime", 0)
        tzset()
        // Seed GLib's random numbers now, because libvips uses them for noise and the confinement forbids the system
        // call that seeds them.
        _ = g_random_int()
        return true
    }

    static func isAtLeast(_ major: Int32, _ minor: Int32, _ micro: Int32) -> Bool {
        (vips_version(0), vips_version(1), vips_version(2)) >= (major, minor, micro)
    }

    /// The version of libheif, which libvips' HEIF module loads; 0.0 if that module is missing.
    static let libheif: (major: Int, minor: Int) = {
        guard let address = dlsym(nil, "heif_get_version_number") else { return (0, 0) }
        let version = unsafeBitCast(address, to: (@convention(c) () -> UInt32).self)()
        return (Int(version >> 24), Int(version >> 16 & 255))
    }()

    static let jxlModule = "vips-jxl.so"

    /// Path of a libvips module, in the modules folder beside the library.
    static func module(_ name: String) -> String? {
        guard let library = clinux_file(dlsym(nil, "vips_init")) else { return nil }
        let folder = FileSystem.folder(of: FileSystem.resolved(String(cString: library)))
        return FileSystem.join(folder, "vips-modules-\(vips_version(0)).\(vips_version(1))/\(name)")
    }

    /// Loads a module if its file exists. Otherwise libvips has the module's code built in, or works without the
    /// module.
    private static func load(_ name: String) {
        if let module = module(name) { _ = g_module_open(module, G_MODULE_BIND_LAZY) }
    }
}
