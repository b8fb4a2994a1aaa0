import ChildProcess
import Foundation
import Testing

/// A filter of a few lines of C.
struct Plugin {
    var name: String
    /// Of `apply(host, values, in, out)`.
    var body: String
    /// Initialisers that come after, and win over, those of a good description.
    var changes = ""

    private var source: String {
        """
        #include <vips/vips.h>
        #include <pipeline_plugin.h>
        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
            (void)host; (void)values; (void)in; (void)out;
            \(body)
        }
        #define AMOUNT(d) {.name = "amount", .type = PIPELINE_NUMBER, .maximum = 3, .default_value = d, .help = "how much"}
        static const PipelineParameter good[] = {AMOUNT("1")}, wild[] = {AMOUNT("9")}, twice[] = {AMOUNT("1"), AMOUNT("1")};
        static const PipelineFilter filter = {
            .abi = PIPELINE_PLUGIN_ABI, .name = "\(name)", .version = "1", .summary = "a test", .apply = apply,
            \(changes)
        };
        const void *const all[] = {good, wild, twice};
        const PipelineFilter *pipeline_filter(void) { return &filter; }
        """
    }

    func compile(to path: String) throws { try Self.compile(source, to: path) }

    static func compile(_ source: String, to path: String) throws {
        let contract = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/CPipelinePlugin").path
        let text = "\(path).c"
        try Data(source.utf8).write(to: URL(fileURLWithPath: text))
        defer { try? FileManager.default.removeItem(atPath: text) }
        let command = #"exec clang -w -fPIC -shared -o "$1" -I "$2" "$1.c" $(pkg-config --cflags --libs vips)"#
        let compiler = try ChildProcess("/bin/sh", ["-c", command, "sh", path, contract]).wait()
        try #require(compiler.status == 0, "\(compiler.errors)")
    }
}
