import Foundation
import TestTools

/// A filter that tries what it may not, with a text, `path`.
enum CuriousPlugin {
    /// `body` ends with 0, or -1 with errno set.
    static func compile(_ name: String, _ body: String, to path: String) throws {
        let source = """
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
                .abi = PIPELINE_PLUGIN_ABI, .name = "\(name)", .version = "1", .summary = "a test", .apply = apply,
                .parameter_count = 1, .parameters = parameters};
            const PipelineFilter *pipeline_filter(void) { return &filter; }
            """
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Plugin.compile(source, to: path)
    }
}
