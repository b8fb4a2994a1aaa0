import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests that consecutive curves become one lookup table, with the same result.
struct FilterTableTests {
    /// Four filters: two that apply a curve to each band, one that applies a curve to luma, and one that mixes bands.
    private static let folder = Result {
        let folder = try TemporaryFolder()
        let curve = ".traits = PIPELINE_POINTWISE | PIPELINE_CURVE"
        func make(_ name: String, _ body: String, _ changes: String) throws {
            try Plugin(name: name, body: body, changes: changes).compile(to: "\(folder.path)/\(name).so")
        }
        // A curve may change every band. Alpha is safe, because the host separates it first.
        try make("lift", "return vips_linear1(in, out, 0.83, 21.3, NULL);", curve)
        try make("bend", "return vips_gamma(in, out, \"exponent\", 1.4, NULL);", curve)
        try make("lamp", "return vips_linear1(in, out, 1.2, -9.7, NULL);", "\(curve) | PIPELINE_LUMA_ONLY")
        try make(
            "tint",
            """
            int alpha = vips_image_hasalpha(in), colours = in->Bands - alpha, failed;
            double weights[] = {0.9, 0.1, 0.05, 0.2, 0.7, 0.05, 0.1, 0.1, 0.6}, grey[] = {1, 0.9, 0.7};
            VipsImage *matrix = vips_image_new_matrix_from_array(colours, 3, colours == 1 ? grey : weights, 3 * colours);
            VipsImage *bands = NULL, *mixed = NULL, *whole = NULL, *last = NULL;
            failed = vips_extract_band(in, &bands, 0, "n", colours, NULL) || vips_recomb(bands, &mixed, matrix, NULL);
            if (!failed && alpha)
                failed = vips_extract_band(in, &last, in->Bands - 1, NULL) || vips_bandjoin2(mixed, last, &whole, NULL);
            failed = failed || vips_copy(alpha ? whole : mixed, out, "interpretation",
                in->BandFmt == VIPS_FORMAT_USHORT ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB, NULL);
            g_object_unref(matrix);
            VIPS_UNREF(bands); VIPS_UNREF(mixed); VIPS_UNREF(whole); VIPS_UNREF(last);
            return failed;
            """, ".traits = PIPELINE_POINTWISE")
        return folder
    }

    private func workers() throws -> (joining: WorkerProcess, apart: WorkerProcess) {
        let folder = try Self.folder.get().path
        return (try WorkerProcess(plugins: [folder]), try WorkerProcess(plugins: [folder], "--apart"))
    }

    /// Returns a picture with `bands` bands that contains every sample value.
    private func source(_ bands: Int, is16Bit: Bool) throws -> TemporaryFile {
        let step = is16Bit ? 257 : 1
        return try Pixels(256, 64) { x, y in
            [x * step, (x * 3 + y * 5) % 256 * step, (255 - x + y) % 256 * step, (y * 4 + x) % 256 * step]
                .suffix(bands).map { $0 }
        }.file(.png, is16Bit: is16Bit)
    }

    @Test(
        "Consecutive filters give the same result one by one and in one table",
        arguments: [
            ("lift | bend", [["lift", "bend"]]),
            ("lift | bend | lift | bend | lift", [["lift", "bend", "lift", "bend", "lift"]]),
            ("lamp | lift | bend", [["lamp", "lift", "bend"]]),
            // `lamp` needs the luma of the result of `lift`, so a new table begins.
            ("lift | lamp | bend", [["lift"], ["lamp", "bend"]]),
            // On a grey picture every pointwise filter works as a table, even if it returns three bands. Later filters
            // join that table.
            ("lamp | tint | lift | lamp", [["lamp", "tint", "lift", "lamp"]]),
            ("tint | lift", [["tint"], ["lift"]]),
            ("lift | resize scale=1 | bend", [["lift"], ["bend"]]),
        ])
    func likeOneByOne(chain: String, tables: [[String]]) throws {
        let (joining, apart) = try workers()
        for is16Bit in [false, true] {
            let file = try source(3, is16Bit: is16Bit)
            let one = try Pixels(joining.render(file, "\(chain) | save format=png"))
            let other = try Pixels(apart.render(file, "\(chain) | save format=png"))
            #expect(one == other)
            #expect(joining.applied == tables)
            #expect(apart.applied == tables.flatMap { $0.map { [$0] } })
        }
    }

    @Test("Filters on grey pictures give the same result in one table, and luma is unchanged")
    func grey() throws {
        let (joining, apart) = try workers()
        for is16Bit in [false, true] {
            let file = try source(1, is16Bit: is16Bit)
            let one = try Pixels(joining.render(file, "lift | lamp | tint | bend | save format=png"))
            #expect(one == (try Pixels(apart.render(file, "lift | lamp | tint | bend | save format=png"))))
            #expect(one.bands == 3)
            // The worker first keeps an 8-bit grey picture as a plane. The table of a plane must return one band, but
            // this table returns three. So the worker makes another table, for a picture.
            let table = ["lift", "lamp", "tint", "bend"]
            #expect(joining.applied == (is16Bit ? [table] : [table, table]))
        }
    }

    @Test("Alpha bypasses the tables, and a filter that may read alpha joins no table", arguments: [2, 4])
    func alpha(bands: Int) throws {
        let (joining, _) = try workers()
        for is16Bit in [false, true] {
            let file = try source(bands, is16Bit: is16Bit)
            let before = try Pixels(file)
            let after = try Pixels(joining.render(file, "lift | bend | save format=png"))
            let toned = try Pixels(joining.render(file, "lamp | tint | save format=png"))
            #expect(joining.applied == [["lamp"], ["tint"]])
            #expect(after.bands == bands && toned.bands == 4)
            for place in 0..<before.width * before.height {
                #expect(after.samples[place * bands + bands - 1] == before.samples[place * bands + bands - 1])
                #expect(toned.samples[place * 4 + 3] == before.samples[place * bands + bands - 1])
            }
            // The colours equal those of the same picture without alpha.
            let opaque = try Pixels(
                joining.render(source(bands - 1, is16Bit: is16Bit), "lift | bend | save format=png"))
            #expect(opaque.bands == bands - 1)
        }
    }

    @Test("A JPEG's own luma goes through the same tables")
    func greyDecoded() throws {
        let (joining, apart) = try workers()
        let file = try Pixels.colourful(400, 300).file(.jpeg)
        let chain = "resize scale=0.5 | lamp | lift | bend | save format=png"
        let paths = try joining.open(file, chain).decoderPaths
        #expect(paths == ["jpeg, greyscale, 1/2, own decoder (lamp needs luma only)"])
        #expect(try Pixels(joining.render(file, chain)) == Pixels(apart.render(file, chain)))
        #expect(joining.applied == [["lamp", "lift", "bend"]])
    }

    @Test(
        "A luma table is reused for consecutive pictures, unless its filter logs",
        arguments: [false, true])
    func madeOnce(talks: Bool) throws {
        let folder = try TemporaryFolder()
        // Each time the filter makes its table, the table is darker than before, which reveals reuse.
        try Plugin(
            name: "fade",
            body: """
                static int tables;
                \(talks ? "host->log(host, PIPELINE_LOG_NOTICE, \"one more\");" : "")
                return vips_linear1(in, out, 1, -20.0 * tables++, NULL);
                """, changes: ".traits = PIPELINE_POINTWISE | PIPELINE_CURVE | PIPELINE_LUMA_ONLY"
        ).compile(to: folder.path + "/fade.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        let file = try Pixels(32, 32) { _, _ in [200, 200, 200] }.file(.jpeg)
        let made = try (1...2).map { _ in try Pixels(worker.render(file, "fade | save format=png"))[16, 16][0] }
        #expect(made == (talks ? [200, 180] : [200, 200]))
        let saved = try (1...2).map { _ in try Pixels(worker.render(file, "fade | save format=jpeg"))[16, 16][0] }
        #expect(saved[1] == (talks ? saved[0] - 20 : saved[0]))
    }
}
