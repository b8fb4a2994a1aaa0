import CVips
import Foundation

/// libvips as a worker needs it: one thread a pipeline, no cache, no untrusted loader, nothing on disk, silent.
enum Vips {
    static func start() -> Bool {
        // Above its threshold libvips spills to temporary files; memory is budgeted before a picture is admitted.
        setenv("VIPS_DISC_THRESHOLD", "1000g", 1)
        g_log_set_default_handler({ _, _, _, _ in }, nil)
        guard vips_init("pipelined-render") == 0 else { return false }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_block_untrusted_set(1)
        // GLib seeds its random numbers, which libvips' noise asks for, by what a confined process may not ask.
        _ = g_random_int()
        return true
    }
}
