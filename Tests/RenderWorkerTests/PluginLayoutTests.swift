import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests filters that were compiled with a different header of the same contract.
struct PluginLayoutTests {
    private func header(_ change: (String) -> String) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let own = try String(contentsOfFile: Plugin.contract + "/pipeline_plugin.h", encoding: .utf8)
        let changed = change(own)
        #expect(changed != own)
        try Data(changed.utf8).write(to: URL(fileURLWithPath: folder.path + "/pipeline_plugin.h"))
        return folder
    }

    private func hello(_ plugin: Plugin, _ header: TemporaryFolder) throws -> WorkerProcess {
        let folder = try TemporaryFolder()
        try Plugin.compile(plugin.source, to: folder.path + "/odd.so", contract: header.path)
        return try WorkerProcess(plugins: [folder.path])
    }

    private static let body = "return vips_linear1(in, out, 0, values[0].number * 10 + values[1].number, NULL);"
    private static let pair =
        ".parameters = (const PipelineParameter[]) {{.name = \"a\", .maximum = 9, .default_value = \"1\", .help = \"h\"}, "
        + "{.name = \"b\", .maximum = 9, .default_value = \"2\", .help = \"h\"}}, .parameter_count = 2"

    @Test("An older description, which ends before the author, is read up to its end")
    func older() throws {
        let header = try header {
            let (start, end) = ("    const char *PIPELINE_NULLABLE author;\n", "} PipelineFilter;")
            guard let from = $0.range(of: start)?.lowerBound, let to = $0.range(of: end)?.lowerBound else { return $0 }
            return $0.replacingCharacters(in: from..<to, with: "")
        }
        // The bytes after the end of the description must not be read as its author.
        let worker = try hello(Plugin(name: "odd", body: Self.body, changes: Self.pair), header)
        let filter = try #require(worker.hello.filters.first, "\(worker.hello.skipped)")
        #expect(filter.author == nil && filter.parameters.map(\.name) == ["a", "b"])
        let result = try worker.render(Pixels.colourful(8, 8).file(.png), "odd a=4 | save format=png")
        #expect(try Pixels(result)[1, 1] == [42, 42, 42])
    }

    @Test("A newer filter, with more fields in both structs, works with the fields that this host knows")
    func newer() throws {
        let header = try header {
            $0.replacingOccurrences(of: "} PipelineFilter;", with: "    double more[9];\n} PipelineFilter;")
                .replacingOccurrences(
                    of: "    const char *help;\n", with: "    const char *help;\n    void *more[3];\n")
        }
        let changes = Self.pair + ", .more = {1, 2, 3}, .author = \"Ada\", .traits = 1u << 30"
        let worker = try hello(Plugin(name: "odd", body: Self.body, changes: changes), header)
        let filter = try #require(worker.hello.filters.first, "\(worker.hello.skipped)")
        #expect(filter.author == "Ada" && filter.parameters.map(\.name) == ["a", "b"] && filter.traits.isEmpty)
        let result = try worker.render(Pixels.colourful(8, 8).file(.png), "odd b=7 | save format=png")
        #expect(try Pixels(result)[1, 1] == [17, 17, 17])
    }

    @Test("A plugin of another contract is refused, with both versions")
    func another() throws {
        let header = try header {
            $0.replacingOccurrences(of: "PIPELINE_PLUGIN_ABI 1", with: "PIPELINE_PLUGIN_ABI 2")
        }
        let skipped = try hello(Plugin(name: "odd", body: Self.body), header).hello.skipped
        #expect(skipped.first?.reason.hasPrefix("it is made for version 2 of the contract, and this is 1") == true)
    }

    @Test(
        "The header compiles without a warning, as C11 and as C++17",
        arguments: [("clang", "c11"), ("gcc", "c11"), ("clang++", "c++17"), ("g++", "c++17")])
    func compiles(compiler: String, standard: String) throws {
        let text = """
            #include <pipeline_plugin.h>
            static int apply(
                const PipelineHost *host, const PipelineValue *values, struct _VipsImage *in, struct _VipsImage **out) {
                (void)values, (void)in, (void)out;
                host->fail(host, "no");
                return host->cancelled(host);
            }
            static const PipelineParameter parameters[] = {
                {"amount", PIPELINE_NUMBER, 0, 1, "0.5", NULL, "px", "how much"}};
            static const PipelineFilter filter = {
                PIPELINE_FILTER_LAYOUT, PIPELINE_POINTWISE | PIPELINE_CURVE, "odd", "1", "a test", 1, parameters, apply,
                "nobody", NULL, NULL, NULL, NULL};
            const PipelineFilter *pipeline_filter(void) { return &filter; }
            """
        let folder = try TemporaryFolder()
        let file = folder.path + (standard.hasPrefix("c++") ? "/odd.cpp" : "/odd.c")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try ChildProcess(
            "/usr/bin/env",
            [
                compiler, "-std=\(standard)", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                "-I\(Plugin.contract)", file,
            ]
        ).wait()
        // The shell's status 127 means that this machine does not have the compiler.
        #expect(outcome.status == 0 || outcome.status == 127, "\(outcome.errors)")
    }
}
