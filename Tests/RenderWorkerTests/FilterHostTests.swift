import CVips
import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests a filter's messages to its host, and the consequences of a filter's mistakes.
struct FilterHostTests {
    private func worker(_ body: String, changes: String = "", loading: String = "") throws -> WorkerProcess {
        let folder = try TemporaryFolder()
        try Plugin(name: "odd", body: body, changes: changes, loading: loading).compile(to: folder.path + "/odd.so")
        return try WorkerProcess(plugins: [folder.path])
    }

    private func source() throws -> TemporaryFile { try Pixels.colourful(40, 30).file(.png) }

    @Test("A filter's log lines carry its name; excess lines are only counted", arguments: [0, 3])
    func log(lines: Int) throws {
        let worker = try worker(
            """
            host->log(host, PIPELINE_LOG_WARNING, "the moon is full");
            char *long_one = malloc(100001);
            memset(long_one, 'x', 100000);
            long_one[100000] = 0;
            host->log(host, PIPELINE_LOG_NOTICE, long_one);
            for (int i = 0; i < 1000; i++) host->log(host, PIPELINE_LOG_NOTICE, "again");
            return vips_copy(in, out, NULL);
            """)
        for _ in 1...2 {
            let before = worker.lines.count
            let output = RenderOutput(name: nil, stages: try worker.chain("odd"))
            let request = OpenRequest(name: "a", outputs: [output], maxPixels: .max, filterLines: lines)
            _ = try worker.ask(.open(request), [source().reopened()])
            _ = try worker.render(into: TemporaryFile())
            let told = Array(worker.lines[before...])
            #expect(told.last == FilterLine(filter: nil, isWarning: false, text: "and \(1002 - lines) lines more"))
            guard lines > 0 else { continue }
            #expect(told.first == FilterLine(filter: "odd", isWarning: true, text: "the moon is full"))
            #expect(told[1].text == String(repeating: "x", count: 400) + "…" && !told[1].isWarning)
            #expect(told.count == lines + 1)
        }
    }

    @Test("An informational line, unlike a warning, is not a reason for a failure")
    func reason() throws {
        for (level, reason) in [("INFO", "odd: libvips gave no reason"), ("WARNING", "odd: the moon is full")] {
            let worker = try worker("g_log(\"VIPS\", G_LOG_LEVEL_\(level), \"the moon is full\"); return -1;")
            let failure = try worker.failure(source(), "odd")
            #expect("\(failure.stage): \(failure.message)" == reason)
        }
    }

    private static let measuring =
        "double mean; return vips_avg(in, &mean, NULL) || vips_linear1(in, out, 1, mean / 10, NULL);"

    @Test(
        "A filter that reads out of order without the trait for it is named, with the missing trait",
        arguments: [
            (Pixels.Format.jpeg, "return vips_flip(in, out, VIPS_DIRECTION_VERTICAL, NULL);"), (.jpeg, measuring),
            (.png, measuring), (.tiff, measuring),
        ])
    func outOfOrder(format: Pixels.Format, body: String) throws {
        let source = try Pixels.colourful(40, 60).file(format) {
            try $0.then { cvips_replicate($0, $1, 10, 100) }
        }
        let worker = try worker(body)
        // The second chain names a kernel, so that the worker does not resize a JPEG in planes. Resized planes would
        // become a picture in memory, which a filter may read in any order.
        for chain in ["odd", "resize scale=0.6 kernel=lanczos3 | odd | save format=png"] {
            let failure = try worker.failure(source, chain)
            #expect(failure.stage == "odd" && failure.filter == "odd", "\(failure)")
            #expect(
                failure.message
                    == "the filter 'odd' reads the picture in another order than from top to bottom, or twice, "
                    + "and does not ask for the whole picture")
            #expect(failure.advice?.hasPrefix("give it the trait PIPELINE_WHOLE_PICTURE") == true)
        }
        let asking = try self.worker(body, changes: ".traits = PIPELINE_WHOLE_PICTURE")
        _ = try asking.render(source, "odd")
    }

    @Test(
        "A filter that loses a colour or alpha, or mislabels bands, is blamed instead of the picture",
        arguments: [
            ("vips_extract_band(in, out, 0, \"n\", 2, NULL)", 3, "it made 2 bands of 3: a colour is lost"),
            (
                "vips_extract_band(in, out, 0, \"n\", 3, NULL)", 4,
                "it made 3 bands of 4 and lost the last, which is alpha"
            ),
            ("vips_extract_band(in, out, 0, NULL)", 2, "it made 1 bands of 2 and lost the last, which is alpha"),
            ("vips_copy(in, out, \"interpretation\", VIPS_INTERPRETATION_B_W, NULL)", 3, "whose interpretation is b-w"),
            ("vips_copy(in, out, \"interpretation\", VIPS_INTERPRETATION_LAB, NULL)", 3, "whose interpretation is lab"),
        ])
    func bands(body: String, bands: Int, message: String) throws {
        let colours = Pixels.colourful(40, 30, alpha: bands == 4)
        let source = try bands == 2 ? Pixels(40, 30) { x, y in [x, y] }.file(.png) : colours.file(.png)
        let worker = try worker("return \(body);")
        for chain in ["odd | save", "resize scale=0.5 | odd | save format=webp"] {
            let failure = try worker.failure(source, chain)
            #expect(
                failure.stage == "odd" && failure.filter == "odd" && failure.message.contains(message), "\(failure)")
        }
    }

    @Test("A filter can notice a cancel while it works, and the worker goes on")
    func cancelled() throws {
        let worker = try worker(
            """
            host->log(host, PIPELINE_LOG_NOTICE, "begun");
            while (!host->cancelled(host)) usleep(1000);
            return -1;
            """)
        _ = try worker.open(source(), "odd")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(.init(2))])
        while let message = try worker.channel.receive(WorkerMessage.self)?.message {
            if case .said = message { break }
        }
        try worker.channel.send(SupervisorMessage.cancel)
        guard case .cancelled = try worker.answer() else { throw Unexpected("not cancelled") }
        _ = try worker.render(source(), "resize scale=0.5")
    }

    @Test("A filter that keeps the host's table too long reads no freed memory, and is ignored")
    func late() throws {
        let worker = try worker(
            """
            static const PipelineHost *kept;
            if (kept) kept->log(kept, PIPELINE_LOG_NOTICE, kept == host ? "the same" : "another");
            kept = host;
            return vips_copy(in, out, NULL);
            """)
        for _ in 1...3 { _ = try worker.render(source(), "odd") }
        #expect(worker.lines.map(\.text) == ["the same", "the same"])
    }

    @Test(
        "An invalid result costs only its picture, and the message names the filter",
        arguments: [
            ("*out = in; return 0;", "without a reference of its own"),
            ("g_object_unref(in); return vips_black(out, 40, 30, NULL);", "let go of its input"),
            ("return vips_real(in, out, NULL) || vips_complexform(in, in, out, NULL);", "not plain numbers"),
            ("return vips_replicate(in, out, 5000, 5000, NULL);", "more than MaxPixels"),
            ("return vips_bandjoin2(in, in, out, NULL);", "6 bands"),
            ("*out = (VipsImage *)vips_interpolate_new(\"bilinear\"); return 0;", "no picture"),
        ])
    func nonsense(body: String, message: String) throws {
        let worker = try worker(body, changes: ".traits = PIPELINE_CHANGES_SIZE")
        for _ in 1...3 {
            let failure = try worker.failure(source(), "odd")
            #expect(failure.stage == "odd" && failure.filter == "odd", "\(failure)")
            #expect(failure.message.contains(message), "\(failure)")
        }
        _ = try worker.render(source(), "resize scale=0.5")
    }

    /// Returns a filter whose `body` runs in a libvips thread, long after `apply` has returned.
    private static func lazily(_ body: String) -> String {
        """
        *out = vips_image_new();
        return vips_image_pipelinev(*out, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)
            || vips_image_generate(*out, vips_start_one, generate, vips_stop_one, g_object_ref(in), NULL);
        }
        static int crash(void) { \(body) return 0; }
        static int generate(VipsRegion *region, void *sequence, void *a, void *b, gboolean *stop) { return crash();
        """
    }

    private static let segfault = "*(volatile int *)8 = 1;"

    @Test(
        "A crash in a filter's code is attributed to the filter, during `apply` and long after",
        arguments: [
            (segfault, false, SIGSEGV), ("abort();", false, SIGABRT), ("__builtin_trap();", false, SIGILL),
            (lazily(segfault), false, SIGSEGV), (lazily("abort();"), false, SIGABRT),
            // The filter makes libvips itself crash.
            ("vips_image_get_width((VipsImage *)8); memset((void *)8, 1, 99);", false, SIGSEGV),
            (lazily("for (;;) memset(g_malloc(1 << 24), 1, 1 << 24);"), true, SIGTRAP),
        ])
    func crashes(body: String, isOutOfMemory: Bool, signal: Int32) throws {
        let folder = try TemporaryFolder()
        let declaration =
            "#include <vips/vips.h>\nstatic int generate(VipsRegion *, void *, void *, void *, gboolean *);\n"
        let plugin = Plugin(name: "odd", body: body)
        try Plugin.compile(
            (body.contains("generate") ? declaration : "") + plugin.source, to: folder.path + "/odd.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        _ = try worker.open(source(), "odd")
        if isOutOfMemory { worker.limitMemory(1 << 30) }
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(.init(2))])
        #expect(throws: (any Error).self) { try worker.answer() }
        #expect(worker.ended() & 0x7f == signal)
        #expect(worker.crash == CrashNote(filter: "odd", isOutOfMemory: isOutOfMemory))
    }
}
