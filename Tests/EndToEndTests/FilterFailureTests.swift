import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A bad filter costs only its own job, and the message names filter and file")
struct FilterFailureTests {
    /// Runs `test` with the filter `odd` and with a recipe for it. The recipe's inbox is named `odd` as well.
    private func with(
        _ body: String, changes: String = "", settings: String = "", chain: String = "odd",
        _ test: (DaemonFixture) async throws -> Void
    ) async throws {
        let files = [
            "etc/recipes.d/odd.recipe": "[Recipe]\nInbox=odd\n[Output]\nChain=\(chain) | save format=png\n",
            "etc/pipelined.conf": "[Daemon]\n\(settings)\n",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            try FileManager.default.createDirectory(atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try Plugin(name: "odd", body: body, changes: changes).compile(to: daemon.path("plugins/odd.so"))
            try await daemon.start()
            try await test(daemon)
        }
    }

    private static func late(_ body: String) -> String {
        """
        int generate(VipsRegion *region, void *sequence, void *a, void *b, gboolean *stop) { \(body) return 0; }
        *out = vips_image_new();
        return vips_image_pipelinev(*out, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)
            || vips_image_generate(*out, vips_start_one, generate, vips_stop_one, g_object_ref(in), NULL);
        """
    }

    @Test(
        "a filter's invalid results, crashes and hangs are reported",
        arguments: [
            ("return 0;", "odd: it returned no picture"),
            ("return vips_extract_area(in, out, 0, 0, 1, 1, NULL);", "odd: it made 1 × 1 of"),
            ("vips_copy(in, out, NULL); g_object_unref(*out); return 0;", "odd"),
            ("host->fail(host, \"the moon is full\"); return -1;", "odd: the moon is full"),
            ("abort();", "took its worker down twice; the second was ended by signal 6 (Aborted)"),
            ("for (;;) memset(g_malloc(1 << 26), 1, 1 << 26);", "after it had used all the memory that it may use"),
            ("for (;;) usleep(1000);", "took longer than JobTimeout"),
        ])
    func mistakes(body: String, message: String) async throws {
        let settings = message.contains("JobTimeout") ? "JobTimeout=2s" : ""
        try await with(body, settings: settings) { daemon in
            try daemon.drop(as: "bad.png", inbox: "inbox/odd")
            try await daemon.job("bad.png", becomes: "failed")
            try daemon.drop(as: "good.png")
            try await daemon.job("good.png", becomes: "done")
            let job = try #require(try daemon.list().first { $0.input == "bad.png" })
            let story = try daemon.call(Call.Show(id: job.id)).story
            let whole = [job.error, story.advice].compactMap(\.self).joined(separator: "; ")
            #expect(whole.contains(message), "\(whole)")
            #expect(whole.contains("odd") && whole.contains(daemon.path("plugins/odd.so")), "\(whole)")
        }
    }

    @Test("a filter that hangs long after it was applied is reported under its name in the chain")
    func hangsLate() async throws {
        try await with(
            "return vips_gaussblur(in, out, 1, NULL);", settings: "JobTimeout=1s\nMaxPixels=10G",
            chain: "odd | resize scale=16"
        ) { daemon in
            try daemon.drop(Picture.tiff(width: 6000, height: 4000), as: "bad.tif", inbox: "inbox/odd")
            try await daemon.job("bad.tif", becomes: "failed")
            let job = try #require(try daemon.list().first)
            #expect(job.error == "rendering took longer than JobTimeout")
            let advice = try daemon.call(Call.Show(id: job.id)).story.advice ?? ""
            #expect(advice.hasSuffix("; or look at the filter 'odd' (\(daemon.path("plugins/odd.so")))"), "\(advice)")
        }
    }

    @Test("the log line names picture, filter and file, and repetitions are counted")
    func log() async throws {
        try await with(
            "for (int i = 1; i <= 40; i++) host->log(host, PIPELINE_LOG_WARNING, \"the \\033[1mmoon\");"
                + " return vips_copy(in, out, NULL);",
            settings: "FilterLines=2"
        ) { daemon in
            try daemon.drop(as: "a.png", inbox: "inbox/odd")
            try await daemon.job("a.png", becomes: "done")
            try await daemon.says("a.png: and 38 lines more")
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("moon") }
            let said = #"a.png: the filter 'odd' says: the \u{1b}[1mmoon (\#(daemon.path("plugins/odd.so")))"#
            #expect(lines.count == 2 && lines.allSatisfy { $0.hasSuffix(said) }, "\(lines)")
        }
    }

    @Test("chains are checked against the filter's own description, in recipes and on the command line")
    func chains() async throws {
        let parameters = """
            .parameters = (const PipelineParameter[]) {
                {.name = "words", .type = PIPELINE_TEXT, .help = "what to write"},
                {.name = "contrast", .type = PIPELINE_NUMBER, .maximum = 3, .default_value = "1", .help = "how much"}},
            .parameter_count = 2, .author = "Ada"
            """
        try await with("return vips_copy(in, out, NULL);", changes: parameters, chain: "odd words=a") { daemon in
            let manual = try await daemon.pipectl("plugins", "show", "odd")
            #expect(manual.output.contains("version 1, by Ada"), "\(manual.output)")
            #expect(manual.output.contains("in a chain: odd words=… [contrast=…]"), "\(manual.output)")
            #expect(manual.output.contains("required"))
            for (chain, message) in [
                ("odd contrast=9 words=a", "contrast=9 is out of range at column 5; it may be 0 to 3"),
                ("odd words=a contrast=abc", "contrast=abc is not a number at column 13; it may be 0 to 3"),
                (
                    "odd words=a contrats=1",
                    "unknown parameter 'contrats' of odd at column 13; did you mean 'contrast'?"
                ),
                ("resize scale=0.5 | odd", "'odd' needs 'words' at column 20; write odd words=text"),
                ("odd words=a | nior", "unknown stage 'nior' at column 15; did you mean 'noir'?"),
            ] {
                let add = try await daemon.pipectl("add", "--chain", chain, daemon.path("etc/pipelined.conf"))
                #expect(add.status == 2 && add.errors.contains(message), "\(add.errors)")
                try daemon.write(
                    "[Recipe]\nInbox=odd\n[Output]\nChain=\(chain)\n", to: "etc/recipes.d/odd.recipe")
                let reload = try await daemon.pipectl("reload")
                // For a recipe file, the column is counted from the beginning of the line.
                let problem = "odd.recipe:4: \(message.components(separatedBy: " at column")[0]) at column"
                #expect(reload.status != 0 && reload.errors.contains(problem), "\(reload.errors)")
            }
            #expect(try daemon.list().isEmpty)
        }
    }

    @Test("explain shows which filters share one table")
    func explain() async throws {
        let curve = ".traits = PIPELINE_POINTWISE | PIPELINE_CURVE"
        try await with("return vips_invert(in, out, NULL);", changes: curve) { daemon in
            let explained = try await daemon.pipectl("explain", "resize scale=0.5 | noir | odd | odd | save format=png")
            #expect(
                explained.output.contains("decode, resize, noir + odd + odd: one table, encode png"),
                "\(explained.output)")
        }
    }

    @Test("a filter's output neither floods the log nor controls a terminal")
    func prints() async throws {
        let body = """
            for (int i = 1; i <= 50000; i++) fprintf(stderr, "chatter \\033[31m %d\\n", i);
            fprintf(stderr, "the end");
            return vips_copy(in, out, NULL);
            """
        try await with(body, settings: "WorkerJobs=1") { daemon in
            try daemon.drop(as: "a.png", inbox: "inbox/odd")
            try await daemon.job("a.png", becomes: "done")
            try await daemon.says("chatter")
            await daemon.stop()
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("chatter") }
            // The daemon logs at most twenty lines in ten seconds. Their total number depends on how long the test
            // takes.
            #expect((1...1000).contains(lines.count), "\(lines.count)")
            #expect(lines.allSatisfy { $0.contains(#" writes: chatter \u{1b}[31m "#) && $0.contains("worker ") })
        }
    }

    @Test("a filter that prints endlessly does not block the daemon, and ends at JobTimeout")
    func printsWithoutEnd() async throws {
        let body = """
            static char lines[65536];
            for (size_t i = 0; i < sizeof lines; i++) lines[i] = i % 2 ? '\\n' : 'x';
            for (;;) write(2, lines, sizeof lines);
            """
        try await with(body, settings: "JobTimeout=3s") { daemon in
            try daemon.drop(as: "a.png", inbox: "inbox/odd")
            try await daemon.says(" writes: x")
            // The daemon replies while the filter keeps printing.
            for _ in 0..<20 { #expect(try daemon.status().problems.isEmpty) }
            try await daemon.job("a.png", becomes: "failed")
            try await daemon.says("took longer than JobTimeout")
        }
    }
}
