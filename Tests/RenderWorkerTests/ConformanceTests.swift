import Foundation
import PipelineModel
import TestTools
import Testing

/// Runs `pipelined-filters try` and `check` as authors of filters do.
struct ConformanceTests {
    private static let program = WorkerProcess.programs.appendingPathComponent("pipelined-filters").path

    private func run(_ words: String...) async throws -> Outcome {
        try await ChildProcess(Self.program, words).outcome()
    }

    private struct Report: Decodable {
        struct Check: Decodable {
            var check: String
            var outcome: String
            var note: String
        }

        var passed: Bool
        var checks: [Check]
    }

    private func conform(
        _ plugin: String, _ values: [String] = []
    ) async throws -> (report: Report, status: Int32) {
        let outcome = try await ChildProcess(Self.program, ["check", "--json", plugin] + values).outcome()
        return (try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)), outcome.status)
    }

    /// The names of the filters listed in Package.swift.
    static let filters: [String] = {
        let package = URL(fileURLWithPath: Plugin.contract).appendingPathComponent("../../Package.swift")
        let text = (try? String(contentsOf: package, encoding: .utf8)) ?? ""
        let list = text.components(separatedBy: "let filters = [").dropFirst().first?.prefix { $0 != "]" } ?? ""
        return list.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter {
            !$0.offset.isMultiple(of: 2)
        }.map {
            // The module `TiltShift` contains the filter `tilt-shift`.
            $0.element.reduce("") { $0 + ($1.isUppercase && !$0.isEmpty ? "-" : "") + $1.lowercased() }
        }
    }()

    @Test("There are filters to check")
    func list() { #expect(Self.filters.contains("noir")) }

    /// Parameter values for filters that do nothing by default.
    private static let values = ["crop": ["ratio=1:1"], "watermark": ["text=Ada"]]

    /// One filter of each kind: they use the whole picture, change the size, read a file, apply a curve, and draw text,
    /// in this order.
    private static let representative = ["autolevels", "crop", "lut", "noir", "watermark"]

    @Test("Every filter of this project conforms")
    func own() async throws {
        #expect(Set(Self.representative).isSubset(of: Self.filters))
        try await inTurns(Sweep.of(Self.representative, all: Self.filters)) { filter in
            let file = WorkerProcess.programs.appendingPathComponent("lib\(filter).so").path
            let cube = try TemporaryFolder()
            try FilterBook.cube.write(toFile: cube.path + "/look.cube", atomically: true, encoding: .utf8)
            let values = filter == "lut" ? ["file=\(cube.path)/look.cube"] : Self.values[filter] ?? []
            let (report, status) = try await conform(file, values)
            let failed = report.checks.filter { $0.outcome == "failed" }
            #expect(report.passed && status == 0, "\(filter): \(failed)")
            #expect(report.checks.count >= 17)
        }
    }

    /// Runs `body` for all elements. Limits the concurrent runs to one per processor, because each run starts its own
    /// worker.
    private func inTurns<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, element) in elements.enumerated() {
                if index >= ProcessInfo.processInfo.activeProcessorCount { try await group.next() }
                group.addTask { try await body(element) }
            }
            try await group.waitForAll()
        }
    }

    private static let curve = ".traits = PIPELINE_POINTWISE | PIPELINE_CURVE"

    /// Faulty filters: the body, the C initialisers that override fields, and the expected complaint of each failed
    /// check.
    private static let mistakes: [(body: String, changes: String, expected: [String: String])] = [
        (
            "return vips_gaussblur(in, out, 1.5, NULL);", ".traits = PIPELINE_POINTWISE",
            ["pointwise, as it says": "it is not pointwise"]
        ),
        (
            """
            VipsImage *bands[3];
            if (in->Bands != 3) return vips_copy(in, out, NULL);
            for (int i = 0; i < 3; i++) vips_extract_band(in, &bands[i], 2 - i, NULL);
            return vips_bandjoin(bands, out, 3, NULL);
            """, curve, ["a curve, as it says": "it is not a curve"]
        ),
        (
            "return vips_copy(in, out, NULL);", ".traits = PIPELINE_LUMA_ONLY",
            ["luma only, as it says": "differs from the result for their luma"]
        ),
        (
            // The result depends on the whole picture, but not on the order of its pixels.
            "double mean; return vips_avg(in, &mean, NULL) || vips_linear1(in, out, 0.9, mean / 10, NULL);",
            ".traits = PIPELINE_POINTWISE | PIPELINE_WHOLE_PICTURE",
            ["pointwise, as it says": "it is not pointwise"]
        ),
        (
            "return values[0].number == 3 ? vips_gaussblur(in, out, 1.5, NULL) : vips_copy(in, out, NULL);",
            ".traits = PIPELINE_POINTWISE, .parameters = good, .parameter_count = 1",
            ["pointwise, as it says": "amount=3.0: a pixel's result depends on its place"]
        ),
        (
            "return vips_copy(in, out, NULL);",
            ".traits = PIPELINE_CHANGES_SIZE | PIPELINE_DRAWS_TEXT | PIPELINE_WHOLE_PICTURE",
            [
                "changes size, as it says": "with none of the tested values",
                "draws text, as it says": "the same without fonts",
                "whole picture, as asked": "that comes row by row",
            ]
        ),
        (
            "return vips_flip(in, out, VIPS_DIRECTION_HORIZONTAL, NULL);",
            ".traits = PIPELINE_MOVES_PIXELS, .arrange = arrange",
            ["moves pixels, as it says": "'arrange' and 'apply' disagree about a picture of 96 × 64"]
        ),
        ("return vips_linear1(in, out, 0.2, 100, NULL);", "", ["16 bit": "a scale of 65535"]),
        (
            "return vips_image_hasalpha(in) ? vips_extract_band(in, out, 0, \"n\", in->Bands - 1, NULL) : vips_copy(in, out, NULL);",
            "",
            [
                "alpha": "lost the last, which is alpha", "one pixel": "of 2 bands", "odd sizes": "of 2 bands",
                "bands, interpretation": "with 2 bands of 8 bits",
            ]
        ),
        (
            "memset(malloc(600000), 1, 600000); return vips_copy(in, out, NULL);", "",
            ["again and again": "not released"]
        ),
        (
            "static int n = 0; double most = in->BandFmt == VIPS_FORMAT_USHORT ? 65535 : 255; return vips_linear1(in, out, 1, (n++ % 5) * most / 500, NULL);",
            "", ["again and again": "gave another result in render"]
        ),
        (
            "if (in->Xsize == 1) abort(); return vips_copy(in, out, NULL);", "",
            ["one pixel": "took its worker down: Aborted", "odd sizes": "1 × 99 of 1 bands"]
        ),
        (
            "return in->Bands == 1 ? -1 : vips_gaussblur(in, out, 1.5, NULL);", ".traits = PIPELINE_POINTWISE",
            [
                "one pixel": "of 1 bands", "odd sizes": "of 1 bands", "one band": "odd: ",
                "bands, interpretation": "with 1 bands of 8 bits",
                "pointwise, as it says": "it is not pointwise",
            ]
        ),
        (
            "if (values[0].number == 0) abort(); return values[0].number == 3 ? vips_gaussblur(in, out, 1.5, NULL) : vips_copy(in, out, NULL);",
            ".traits = PIPELINE_POINTWISE, .parameters = good, .parameter_count = 1",
            [
                "every parameter's ends": "amount=0.0: it took its worker down",
                "pointwise, as it says": "amount=3.0: a pixel's result depends on its place",
            ]
        ),
        (
            "return in->Xsize == 96 ? -1 : vips_copy(in, out, NULL);", ".traits = PIPELINE_POINTWISE",
            ["pointwise, as it says": "none was compared"]
        ),
        (
            // A new worker renders its first picture without sleeping. The check for cancellation is the only one whose
            // worker renders the huge picture after another picture, so it is the only one that fails.
            "static int n = 0; if (n++ > 0 && in->Xsize > 5000) sleep(6); return vips_copy(in, out, NULL);", "",
            ["cancelled in the middle": "check host->cancelled"]
        ),
        (
            "if (values[0].number == 3) { host->fail(host, \"too much\"); return -1; } return vips_copy(in, out, NULL);",
            ".parameters = good, .parameter_count = 1", ["every parameter's ends": "amount=3.0: odd: too much"]
        ),
        (
            // The memory limit counts allocated memory, so it is enough to write one byte per block. Writing more would
            // take too long.
            "while (in->Xsize > 5000) *(char *)g_malloc(1 << 24) = 1; return vips_copy(in, out, NULL);", "",
            [
                "a huge picture": "all the memory that it may",
                "cancelled in the middle": "took its worker down",
            ]
        ),
        (
            "return vips_copy(in, out, \"interpretation\", in->Type == VIPS_INTERPRETATION_RGB16 ? VIPS_INTERPRETATION_GREY16 : in->Type, NULL);",
            "",
            [
                "bands, interpretation": "16 bits: odd: it returned 3 bands whose interpretation is grey16",
                "16 bit": "grey16",
            ]
        ),
    ]

    @Test("A filter's mistakes are all reported, because every check runs")
    func wrong() async throws {
        // The short run takes only mistakes that make a check complain for the first time.
        var complaints: Set<String> = []
        let some = Self.mistakes.filter { mistake in
            defer { complaints.formUnion(mistake.expected.keys) }
            return !complaints.isSuperset(of: mistake.expected.keys)
        }
        try await inTurns(Sweep.of(some, all: Self.mistakes)) { body, changes, expected in
            let folder = try TemporaryFolder()
            try Plugin(name: "odd", body: body, changes: changes).compile(to: folder.path + "/odd.so")
            let (report, status) = try await conform(folder.path + "/odd.so")
            #expect(!report.passed && status == 1)
            let failed = report.checks.filter { $0.outcome == "failed" }
            #expect(Set(failed.map(\.check)) == Set(expected.keys), "\(body): \(failed)")
            for check in failed { #expect(check.note.contains(expected[check.check] ?? ""), "\(check)") }
        }
    }

    @Test("A filter that needs exactly one of several parameters conforms")
    func alternatives() async throws {
        let folder = try TemporaryFolder()
        let parameters = ["a", "b"].map {
            "{.name = \"\($0)\", .maximum = 5, .default_value = \"0\", .help = \"h\"}"
        }
        try Plugin(
            name: "odd", body: "return vips_copy(in, out, NULL);",
            changes: ".traits = PIPELINE_POINTWISE, .parameter_count = 2, "
                + ".parameters = (const PipelineParameter[]) {\(parameters.joined(separator: ", "))}, "
                + ".at_least_one_of = (const char *const[]) {\"a\", \"b\", NULL}, "
                + ".at_most_one_of = (const char *const[]) {\"a\", \"b\", NULL}"
        ).compile(to: folder.path + "/odd.so")
        let (report, _) = try await conform(folder.path + "/odd.so")
        #expect(report.passed, "\(report.checks.filter { $0.outcome == "failed" })")
        let ends = report.checks.first { $0.check == "every parameter's ends" }
        #expect(ends?.note == "2 values", "\(String(describing: ends))")
    }

    @Test("A file that is not a filter is reported as JSON with sorted keys, and a class that is documented")
    func noFilter() async throws {
        let outcome = try await run("check", "--json", "/etc/passwd")
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        let start = #"{"error":"Failed","message":"/etc/passwd is not a filter: "#
        #expect(outcome.errors.hasPrefix(start), "\(outcome.errors)")
    }

    @Test("A filter that ends its process is reported with the status, not with a signal that does not exist")
    func exits() async throws {
        let folder = try TemporaryFolder()
        try Plugin(name: "odd", body: "extern void _exit(int); _exit(7);").compile(to: folder.path + "/odd.so")
        let report = try await conform(folder.path + "/odd.so").report
        let note = try #require(report.checks.first { $0.outcome == "failed" }?.note)
        #expect(note.contains("it took its worker down: the process ended with status 7"), "\(note)")
    }

    @Test("The report is readable, with a line for each check and a summary at the end")
    func report() async throws {
        let folder = try TemporaryFolder()
        try Plugin(
            name: "odd", body: "system(\"true\"); fopen(\"/etc/passwd\", \"r\"); return vips_copy(in, out, NULL);",
            changes: ".author = \"Ada\""
        ).compile(to: folder.path + "/odd.so")
        let outcome = try await run("check", folder.path + "/odd.so")
        #expect(outcome.status == 1)
        #expect(outcome.lines.first == "odd 1: a test" && outcome.output.contains("by Ada; traits: none"))
        #expect(outcome.output.contains("✗ one pixel                 1 × 1 of 1 bands: "), "\(outcome.output)")
        let left = "– a curve, as it says       it does not declare this trait"
        #expect(outcome.output.contains(left), "\(outcome.output)")
        #expect(outcome.output.contains("the filter 'odd' tried the system call clone"), "\(outcome.output)")
        #expect(outcome.lines.last?.hasPrefix("odd does not conform: ") == true)
    }

    @Test(
        "A system call that would kill a worker is named",
        arguments: [
            ("socket(1, 1, 0)", "socket"), ("kill(1, 0)", "kill"), ("system(\"true\")", "clone"),
            ("popen(\"true\", \"r\")", "pipe2"),
            ("posix_spawn(NULL, \"/bin/true\", NULL, NULL, words, words)", "clone"),
            ("if (fork() == 0) _exit(0)", "clone"), ("execv(\"/bin/true\", words)", "execve"),
            (
                "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); "
                    + "pthread_sigmask(SIG_SETMASK, &all, NULL); socket(1, 1, 0)",
                "socket"
            ),
        ])
    func deadlyCall(call: String, name: String) async throws {
        let folder = try TemporaryFolder()
        let body =
            "extern int socket(int, int, int); extern int posix_spawn(); char *words[] = {\"true\", NULL}; "
            + "(void)words; \(call); return vips_copy(in, out, NULL);"
        try Plugin(name: "odd", body: body).compile(to: folder.path + "/odd.so")
        let report = try await conform(folder.path + "/odd.so").report
        let first = try #require(report.checks.first)
        #expect(
            first.outcome == "failed" && first.note.contains("the filter 'odd' tried the system call \(name)"),
            "\(first)")
    }

    @Test("The checks end with the first one that hangs, and each line is printed at once")
    func hanging() async throws {
        let folder = try TemporaryFolder()
        let body = "if (in->Xsize == 7) for (;;) usleep(1000); return vips_copy(in, out, NULL);"
        try Plugin(name: "odd", body: body).compile(to: folder.path + "/odd.so")
        let outcome = try await run("check", "--patience", "20", folder.path + "/odd.so")
        #expect(outcome.status == 1)
        let lines = outcome.lines.filter { $0.hasPrefix("✓") || $0.hasPrefix("✗") || $0.hasPrefix("–") }
        #expect(lines.count == 2 && lines.first?.hasPrefix("✓ one pixel") == true, "\(lines)")
        #expect(lines.last?.contains("it does not finish: it was stopped after 20s") == true, "\(lines)")
        #expect(
            outcome.lines.last?.contains("1 of 2 checks failed. It hangs, so 17 more were not run.") == true,
            "\(outcome.output)")
    }

    @Test(
        "A file that is not a filter is refused with a sentence, without checks", arguments: ["check", "try"])
    func noFilter(task: String) async throws {
        let folder = try TemporaryFolder()
        for (name, loading, reason) in [
            ("text", nil, "can't be loaded"), ("abi", ".abi = 4", "version 4"), ("crash", "abort();", "exits"),
        ] {
            let file = "\(folder.path)/\(name).so"
            switch name {
            case "text": try Data("text".utf8).write(to: URL(fileURLWithPath: file))
            case "abi": try Plugin(name: "odd", body: "return 0;", changes: loading ?? "").compile(to: file)
            default: try Plugin(name: "odd", body: "return 0;", loading: loading ?? "").compile(to: file)
            }
            let outcome = try await run(task, file, "in.png", "out.png")
            // `check` takes no parameters, so it rejects these words as invalid usage.
            let isUsage = task == "check"
            #expect(outcome.status == (isUsage ? 2 : 1), "\(outcome)")
            let alone = isUsage ? try await run(task, file) : outcome
            #expect(alone.status == 1 && alone.errors.contains("\(file) is not a filter: "), "\(alone)")
            #expect(alone.errors.contains(reason), "\(alone)")
        }
    }

    @Test("A picture can be tried, and a failure leaves no file behind")
    func trying() async throws {
        let folder = try TemporaryFolder()
        let body = """
            host->log(host, PIPELINE_LOG_NOTICE, values[1].text);
            if (values[0].number > 2) { host->fail(host, "the moon is full"); return -1; }
            return vips_linear1(in, out, 0, values[0].number * 10, NULL);
            """
        let parameters =
            ".parameters = (const PipelineParameter[]) {{.name = \"amount\", .maximum = 3, .default_value = \"1\", .help = \"h\"}, "
            + "{.name = \"words\", .type = PIPELINE_TEXT, .help = \"h\"}}, .parameter_count = 2"
        let plugin = folder.path + "/odd.so"
        try Plugin(name: "odd", body: body, changes: parameters).compile(to: plugin)
        let source = try Pixels.colourful(40, 30).file(.jpeg)
        let result = folder.path + "/result.png"

        let made = try await run("try", plugin, "amount=2", #"words=full | "moon" \"#, source.path, result)
        #expect(made.status == 0, "\(made)")
        #expect(made.lines.first == #"odd says: full | "moon" \"#)
        let read = "\(source.path): 40 × 30, read as jpeg, whole (the chain begins at full size)"
        #expect(made.output.contains("\(read)\n\(result): 40 × 30, png, "))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: result))
        #expect(try Pixels(TemporaryFile(Array(bytes)))[1, 1] == [20, 20, 20])

        for (words, error) in [
            (["amount=3", "words=a", source.path], "odd: the moon is full"),
            (["amount=4", "words=a", source.path], "amount=4 is out of range"),
            (["amuont=1", "words=a", source.path], "did you mean 'amount'?"),
            ([source.path], "'odd' needs 'words'"),
            (["words=a", "/nowhere.jpg"], "/nowhere.jpg"), (["words=a", plugin], "open: "),
        ] {
            let outcome = try await ChildProcess(Self.program, ["try", plugin] + words + [result]).outcome()
            #expect(outcome.status == 1 && outcome.errors.contains(error), "\(outcome)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: result)) == bytes)
        }
        let usage = try await run("try", plugin, source.path, folder.path + "/result.bmp")
        #expect(usage.status == 2 && usage.errors.contains("must end in .avif"), "\(usage)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["odd.so", "result.png"])
    }
}
