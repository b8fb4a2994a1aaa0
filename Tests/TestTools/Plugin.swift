import Foundation

/// A filter plugin made from a few lines of C.
public struct Plugin: Sendable {
    private let name: String
    private let body: String
    private let changes: String
    private let loading: String

    /// `body` becomes the body of `apply(host, values, in, out)`. `changes` are C initialisers that override fields of
    /// a valid description. `loading` is code that runs while the plugin is being loaded.
    public init(name: String, body: String, changes: String = "", loading: String = "") {
        self.loading = loading
        self.name = name
        self.body = body
        self.changes = changes
    }

    public var source: String {
        """
        #include <pthread.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        #include <vips/vips.h>
        #include <pipeline_plugin.h>
        static int apply(const PipelineHost *host, const PipelineValue *values, VipsImage *in, VipsImage **out) {
            (void)host; (void)values; (void)in; (void)out;
            \(body)
        }
        #define AMOUNT(d) {.name = "amount", .type = PIPELINE_NUMBER, .maximum = 3, .default_value = d, .help = "how much"}
        static __attribute__((unused)) int arrange(
            const PipelineHost *host, const PipelineValue *values, int width, int height, PipelineArrangement *to) {
            (void)host, (void)values, (void)width, (void)height;
            to->quarters = 2;
            return 0;
        }

        static const PipelineParameter good[] = {AMOUNT("1")}, wild[] = {AMOUNT("9")}, twice[] = {AMOUNT("1"), AMOUNT("1")};
        #define ODD(...) ((const PipelineParameter[]) {{.name = "amount", .maximum = 3, .default_value = "1.5", .help = "h", __VA_ARGS__}})
        static const PipelineFilter filter = {
            PIPELINE_FILTER_LAYOUT, .name = "\(name)", .version = "1", .summary = "a test", .apply = apply,
            \(changes)
        };
        __attribute__((constructor)) static void loading(void) { \(loading) }
        const void *const all[] = {good, wild, twice};
        const PipelineFilter *pipeline_filter(void) { return &filter; }
        """
    }

    public func compile(to path: String) throws { try Self.compile(source, to: path) }

    /// The folder of the plugin contract's header.
    public static let contract = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Sources/CPipelinePlugin").standardizedFileURL.path

    /// The precompiled `<vips/vips.h>`: parsing it takes most of the compile time. Tests/lanes.py compiles it and sets
    /// the path.
    private static var precompiled: String {
        let path = ProcessInfo.processInfo.environment["PIPELINED_PRECOMPILED"] ?? ""
        return FileManager.default.fileExists(atPath: path) ? path : ""
    }

    /// Compiles a filter's source against the plugin header in `contract`.
    public static func compile(_ source: String, to path: String, contract: String = contract) throws {
        let text = "\(path).c"
        try Data(source.utf8).write(to: URL(fileURLWithPath: text))
        defer { try? FileManager.default.removeItem(atPath: text) }
        let command = #"""
            exec clang -w -fPIC -D_GNU_SOURCE -shared -o "$1" -I "$2" ${3:+-include-pch "$3"} "$1.c" $(pkg-config --cflags --libs vips)
            """#
        let compiler = try ChildProcess("/bin/sh", ["-c", command, "sh", path, contract, precompiled]).wait()
        guard compiler.status == 0 else { throw DoesNotCompile(description: compiler.errors) }
    }
}

struct DoesNotCompile: Error, CustomStringConvertible {
    let description: String
}
