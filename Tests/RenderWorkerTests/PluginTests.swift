import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Plugins that a C compiler makes of a few lines.
struct PluginTests {
    private static let noir = WorkerProcess.programs.appendingPathComponent("libnoir.so").path

    @Test("Removing a filter's file removes the stage")
    func removing() throws {
        let folder = try TemporaryFolder()
        let file = folder.path + "/noir.so"
        try FileManager.default.copyItem(atPath: Self.noir, toPath: file)
        #expect(try WorkerProcess(plugins: [folder.path]).hello.filters.map(\.name) == ["noir"])
        try FileManager.default.removeItem(atPath: file)
        #expect(try WorkerProcess(plugins: [folder.path]).hello.filters.isEmpty)
    }

    @Test("The first file of a name wins, and the other says who did")
    func firstWins() throws {
        let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
        for folder in [first, second] {
            try FileManager.default.copyItem(atPath: Self.noir, toPath: folder.path + "/noir.so")
        }
        let hello = try WorkerProcess(plugins: [first.path, second.path]).hello
        #expect(hello.filters.map(\.file) == [first.path + "/noir.so"])
        #expect(hello.skipped.map(\.file) == [second.path + "/noir.so"])
        #expect(hello.skipped.first?.reason.contains(first.path) == true)
    }

    @Test("What is no plugin is skipped, with the reason")
    func notAPlugin() throws {
        let folder = try TemporaryFolder()
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder.path + "/a.so"))
        try Plugin.compile("int something_else;", to: folder.path + "/b.so")
        let skipped = try WorkerProcess(plugins: [folder.path]).hello.skipped
        #expect(skipped.map(\.file) == [folder.path + "/a.so", folder.path + "/b.so"])
        #expect(skipped.first?.reason.contains("can't be loaded") == true)
        #expect(skipped.last?.reason.contains("no symbol 'pipeline_filter'") == true)
    }

    @Test("The folder of the programs holds other libraries, too, which nobody hears of")
    func buildFolder() throws {
        #expect(try WorkerProcess().hello.skipped.isEmpty)
    }

    @Test(
        "A description that makes no sense is skipped, with the reason",
        arguments: [
            (".abi = 7", "version 7"), (".name = \"No Ir\"", "can't be a filter's name"),
            (".name = NULL", "name is missing"),
            (".name = \"resize\"", "built in"), (".apply = NULL", "no function 'apply'"),
            (".summary = NULL", "summary"),
            (".parameters = NULL, .parameter_count = 1", "parameters are missing"),
            (".parameters = twice, .parameter_count = 2", "two parameters 'amount'"),
            (".parameters = wild, .parameter_count = 1", "amount=9 is out of range; it may be 0 to 3"),
            (".parameters = good, .parameter_count = 65", "65 parameters; 64 are the most"),
            (".filter_size = 8", "its PipelineFilter has 8 bytes"), (".filter_size = 1001", "1001 bytes"),
            (".parameter_size = 65536", "its PipelineParameter has 65536 bytes"),
            (".parameter_size = 0", "PIPELINE_FILTER_LAYOUT"),
            (".traits = PIPELINE_POINTWISE | PIPELINE_CHANGES_SIZE", "one of them is not so"),
            (".traits = PIPELINE_CURVE", "as every curve is"),
            (".name = \"a-name-of-more-than-forty-letters-is-too-long\"", "can't be a filter's name"),
            (".summary = \"two\\nlines\"", "more than one line"), (".summary = \"\\xff\"", "not UTF-8"),
            (".version = \"\"", "version is empty"),
            (".parameters = ODD(.type = 9), .parameter_count = 1", "unknown type 9"),
            (".parameters = ODD(.minimum = 2, .maximum = 1), .parameter_count = 1", "range of its parameter 'amount'"),
            (".parameters = ODD(.maximum = 0.0 / 0), .parameter_count = 1", "which is none"),
            (".parameters = ODD(.type = PIPELINE_CHOICE), .parameter_count = 1", "no choices"),
            (".parameters = ODD(.name = \"A\"), .parameter_count = 1", "can't be a parameter's name"),
            (".parameters = ODD(.help = NULL), .parameter_count = 1", "help of 'amount' is missing"),
            (".parameters = ODD(.type = PIPELINE_BOOLEAN), .parameter_count = 1", "is neither yes nor no"),
        ])
    func nonsense(change: String, reason: String) throws {
        let folder = try TemporaryFolder()
        try Plugin(name: "odd", body: "return vips_invert(in, out, NULL);", changes: change)
            .compile(to: folder.path + "/odd.so")
        let hello = try WorkerProcess(plugins: [folder.path]).hello
        #expect(hello.filters.isEmpty)
        #expect(hello.skipped.first?.reason.contains(reason) == true, "\(hello.skipped)")
    }

    @Test(
        "A filter that goes wrong costs its own job, under its name",
        arguments: [
            ("host->fail(host, \"the moon is full\"); return -1;", "the moon is full"),
            ("vips_error(\"odd\", \"no luck\"); return -1;", "no luck"), ("return 0;", "returned no picture"),
            ("return vips_extract_area(in, out, 0, 0, 1, 1, NULL);", "changes the size"),
        ])
    func goesWrong(body: String, message: String) throws {
        let folder = try TemporaryFolder()
        try Plugin(name: "odd", body: body).compile(to: folder.path + "/odd.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        let source = try Pixels.colourful(40, 30).file(.png)
        let failure = try worker.failure(source, "odd")
        #expect(failure.stage == "odd" && failure.message.contains(message), "\(failure)")
        _ = try worker.render(source, "resize scale=0.5")
    }

    @Test("A filter gets its arguments, and may leave floating samples behind")
    func arguments() throws {
        let folder = try TemporaryFolder()
        let body = "return vips_linear1(in, out, values[0].number, 0.4, NULL);"
        try Plugin(name: "odd", body: body, changes: ".parameters = good, .parameter_count = 1")
            .compile(to: folder.path + "/odd.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        let source = try Pixels(16, 16) { _, _ in [10, 20, 200] }.file(.png)
        #expect(try Pixels(worker.render(source, "odd amount=2 | save format=png"))[3, 3] == [20, 40, 255])
        #expect(try Pixels(worker.render(source, "odd | save format=png"))[3, 3] == [10, 20, 200])
    }
}

/// Filters that were compiled with another header, of the same contract.
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

    @Test("An older one, whose description ends before the author, is read as far as it goes")
    func older() throws {
        let header = try header {
            $0.replacingOccurrences(of: "    const char *PIPELINE_NULLABLE author;\n", with: "")
        }
        // What lies behind its end is not its author.
        let worker = try hello(Plugin(name: "odd", body: Self.body, changes: Self.pair), header)
        let filter = try #require(worker.hello.filters.first, "\(worker.hello.skipped)")
        #expect(filter.author == nil && filter.parameters.map(\.name) == ["a", "b"])
        let result = try worker.render(Pixels.colourful(8, 8).file(.png), "odd a=4 | save format=png")
        #expect(try Pixels(result)[1, 1] == [42, 42, 42])
    }

    @Test("A newer one, with more fields in both structs, works as far as this host knows them")
    func newer() throws {
        let header = try header {
            $0.replacingOccurrences(of: "author;\n", with: "author;\n    double more[9];\n")
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

    @Test("One of another contract is refused, with both versions")
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
                "nobody"};
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
        // 127: this machine has no such compiler.
        #expect(outcome.status == 0 || outcome.status == 127, "\(outcome.errors)")
    }
}
