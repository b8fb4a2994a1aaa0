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
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/bin/sh")
        compiler.arguments = [
            "-c", "exec clang -w -x c -fPIC -shared -o \"$1\" -I \"$2\" $(pkg-config --cflags --libs vips) -", "sh",
            path,
            contract,
        ]
        let input = Pipe()
        compiler.standardInput = input
        try compiler.run()
        try input.fileHandleForWriting.write(contentsOf: Data(source.utf8))
        try input.fileHandleForWriting.close()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
    }
}
