import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests plugins that are compiled from a few lines of C.
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

    @Test("The first file of a name wins, and the other is skipped with the first one's path")
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

    @Test("A file that is not a plugin is skipped, with the reason")
    func notAPlugin() throws {
        let folder = try TemporaryFolder()
        try Data("text".utf8).write(to: URL(fileURLWithPath: folder.path + "/a.so"))
        try Plugin.compile("int something_else;", to: folder.path + "/b.so")
        let skipped = try WorkerProcess(plugins: [folder.path]).hello.skipped
        #expect(skipped.map(\.file) == [folder.path + "/a.so", folder.path + "/b.so"])
        #expect(skipped.first?.reason.contains("can't be loaded") == true)
        #expect(skipped.last?.reason.contains("no symbol 'pipeline_filter'") == true)
    }

    @Test("Other libraries in the programs' folder are ignored silently")
    func buildFolder() throws {
        #expect(try WorkerProcess().hello.skipped.isEmpty)
    }

    @Test(
        "An invalid description is skipped, with the reason",
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
            (".traits = PIPELINE_CURVE", "requires the trait 'pointwise'"),
            (".traits = PIPELINE_POINTWISE | PIPELINE_READS_TEXTS", "and that it reads texts: one of them is not so"),
            (".needs_colours = (const char *const[]) {\"red\", NULL}", "its needs_colours names 'red'"),
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
            (
                ".parameters = good, .parameter_count = 1, .at_least_one_of = (const char *const[]) {\"amount\", \"b\", 0}",
                "its at_least_one_of names 'b', which is none of its parameters"
            ),
            (".at_most_one_of = (const char *const[65]) {[0 ... 64] = \"a\"}", "more names than 64"),
            (".traits = PIPELINE_MOVES_PIXELS", "no function 'arrange'"),
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
        "A faulty filter fails only its own job, with the filter's name",
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

    @Test("A filter gets its arguments, and may return floating samples")
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
