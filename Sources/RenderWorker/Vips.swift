import CLinux
import CVips
import Foundation
import Glibc
import SystemCalls

/// Starts libvips as a worker needs it: one thread a pipeline, no cache, no untrusted loader, nothing on disk, silent.
enum Vips {
    /// JPEG XL's module takes some milliseconds, so it is loaded only where it is wanted.
    static func start(writesJXL: Bool = false) -> Bool {
        // Above its threshold libvips spills to temporary files; memory is budgeted before a picture is admitted.
        setenv("VIPS_DISC_THRESHOLD", "1000g", 1)
        g_log_set_default_handler(
            { _, level, text, _ in
                // The handler gets every level, mere information too.
                if level.rawValue & G_LOG_LEVEL_WARNING.rawValue != 0 { VipsWarning.note(text) }
            }, nil)
        // At its start libvips loads each module below VIPSHOME: ImageMagick, poppler, OpenSlide and JPEG XL take
        // longer than all the rest, and no picture may use them here.
        setenv("VIPSHOME", "/nonexistent", 1)
        guard vips_init("pipelined-render") == 0 else { return false }
        load("vips-heif.so")
        if writesJXL { load(jxlModule) }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_block_untrusted_set(1)
        // libvips trusts neither direction. No foreign byte passes through this one, and the loader stays blocked.
        vips_operation_block_set("VipsForeignSaveJxl", 0)
        // LibRaw asks for the time zone, whose file can't be opened later. Without a name glibc would look at it again.
        setenv("TZ", ":/etc/localtime", 0)
        tzset()
        // GLib seeds its random numbers, which libvips' noise asks for, by a call that a confined process may not make.
        _ = g_random_int()
        return true
    }

    static func isAtLeast(_ major: Int32, _ minor: Int32, _ micro: Int32) -> Bool {
        (vips_version(0), vips_version(1), vips_version(2)) >= (major, minor, micro)
    }

    /// The version of libheif, which comes with a module; 0 without that.
    static let libheif: (major: Int, minor: Int) = {
        guard let address = dlsym(nil, "heif_get_version_number") else { return (0, 0) }
        let version = unsafeBitCast(address, to: (@convention(c) () -> UInt32).self)()
        return (Int(version >> 24), Int(version >> 16 & 255))
    }()

    static let jxlModule = "vips-jxl.so"

    /// The place of a module, which is beside the library.
    static func module(_ name: String) -> String? {
        guard let library = clinux_file(dlsym(nil, "vips_init")) else { return nil }
        let folder = FileSystem.folder(of: FileSystem.resolved(String(cString: library)))
        return FileSystem.join(folder, "vips-modules-\(vips_version(0)).\(vips_version(1))/\(name)")
    }

    /// Where there is no module, libvips has it built in, or works without.
    private static func load(_ name: String) {
        if let module = module(name) { _ = g_module_open(module, G_MODULE_BIND_LAZY) }
    }
}
