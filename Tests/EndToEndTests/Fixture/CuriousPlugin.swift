import Foundation
import TestTools

/// Sources of plugins that attempt forbidden things.
enum CuriousPlugin {
    static func compile(_ source: String, to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Plugin.compile(source, to: path)
    }

    /// Returns the source of a filter with a text parameter `path`. `body` returns 0, or -1 with errno set.
    static func filter(_ name: String, _ body: String) -> String {
        """
        #include <errno.h>
        #include <fcntl.h>
        #include <string.h>
        #include <unistd.h>
        #include <vips/vips.h>
        #include <pipeline_plugin.h>
        static int work(const char *path) { \(body) }
        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
            if (work(values[0].text) == 0) return vips_copy(in, out, NULL);
            host->fail(host, strerror(errno));
            return -1;
        }
        static const PipelineParameter parameters[] = {
            {.name = "path", .type = PIPELINE_TEXT, .default_value = "", .help = "which"}};
        static const PipelineFilter filter = {
            PIPELINE_FILTER_LAYOUT, .name = "\(name)", .version = "1", .summary = "a test", .apply = apply,
            .parameter_count = 1, .parameters = parameters};
        const PipelineFilter *pipeline_filter(void) { return &filter; }
        """
    }

    /// The source of a plugin without a filter. It starts a thread when it is loaded.
    static let thread = """
        #include <pthread.h>
        #include <unistd.h>
        static void *wait(void *nothing) { for (;;) pause(); }
        __attribute__((constructor)) static void begin(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, wait, NULL);
        }
        """
}
