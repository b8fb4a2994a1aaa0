import Foundation
import PipelineModel
import Testing

struct ChainTests {
    @Test("A chain is parsed into its stages, with all defaults")
    func stages() throws {
        let chain = try Chain(
            parsing: " resize scale=0.5 | noir | save format=jpeg quality=85 ", catalog: .withNoir)
        #expect(chain.text == "resize scale=0.5 | noir | save format=jpeg quality=85")
        #expect(
            chain.stages == [
                Stage(
                    name: "resize",
                    arguments: ["scale": .number(0.5), "fit": .text("inside"), "kernel": .text("auto")]),
                Stage(
                    name: "noir",
                    arguments: ["contrast": .number(1), "grain": .number(0), "tint": .text("#ffeedd")]),
                Stage(
                    name: "save",
                    arguments: [
                        "format": .text("jpeg"), "quality": .number(85), "hdr": .text("keep"),
                        "metadata": .text("keep"),
                        "background": .text("#ffffff"),
                    ]),
            ])
    }

    @Test("A chain without a save ends in a plain save, and its text stays as written")
    func saveIsAdded() throws {
        let chain = try Chain(parsing: "noir", catalog: .withNoir)
        #expect(chain.stages.map(\.name) == ["noir", "save"])
        #expect(chain.stages.last?.arguments["quality"] == nil)
        #expect(chain.text == "noir")
        #expect(
            Planner.plan(outputs: [RecipeOutput(name: nil, chain: chain)], inBatch: false).results[0].suffix == "jpg")
    }

    @Test(
        "A result's suffix follows its format",
        arguments: [
            ("jpeg", "jpg"), ("png", "png"), ("webp", "webp"), ("tiff", "tif"), ("avif", "avif"), ("gif", "gif"),
            ("jxl", "jxl"), ("same", nil),
        ])
    func suffix(format: String, suffix: String?) throws {
        let chain = try Chain(parsing: "save format=\(format)", catalog: .builtIn)
        let plan = Planner.plan(outputs: [RecipeOutput(name: nil, chain: chain)], inBatch: false)
        #expect(plan.results.map(\.suffix) == [suffix])
    }

    @Test(
        "A format that this machine can't write is refused with the name of the missing package",
        arguments: ["gif", "jxl"])
    func missingEncoder(format: String) {
        let lack = MissingEncoder(format: format, remedy: "install what Debian calls libformat")
        let catalog = StageCatalog(filters: [], missingEncoders: [lack])
        #expect(
            refusal(of: "resize scale=0.5 | save format=\(format)", catalog: catalog)
                == "format=\(format), whose encoder is missing on this machine at column 25; "
                + "install what Debian calls libformat, then pipectl reload, or choose another format")
        for other in ["jpeg", "same"] { #expect(refusal(of: "save format=\(other)", catalog: catalog) == nil) }
        #expect(refusal(of: "resize scale=0.5", catalog: catalog) == nil)
    }

    @Test("effort of a jxl ranges from 3 to 9", arguments: [3, 9])
    func effortOfJXL(effort: Int) throws {
        let save = try #require(Chain(parsing: "save format=jxl effort=\(effort)", catalog: .builtIn).stages.last)
        #expect(save.arguments["effort"] == .number(Double(effort)) && save.writesJXL)
        #expect(try Chain(parsing: "save", catalog: .builtIn).stages.last?.writesJXL == false)
    }

    @Test("Quotes keep spaces, pipes and escaped quotes together")
    func quotes() throws {
        let chain = try Chain(parsing: #"noir caption="a | \"b\" \\ c"|save"#, catalog: .withNoir)
        #expect(chain.stages.first?.arguments["caption"] == .text(#"a | "b" \ c"#))
        #expect(chain.stages.count == 2)
    }

    @Test(
        "Booleans have several spellings",
        arguments: [("yes", 1.0), ("true", 1), ("1", 1), ("no", 0), ("False", 0), ("0", 0)])
    func booleans(word: String, number: Double) throws {
        let chain = try Chain(parsing: "noir grain=\(word)", catalog: .withNoir)
        #expect(chain.stages.first?.arguments["grain"] == .number(number))
    }

    @Test("A chain that is stored in the ledger and read back is the same")
    func coding() throws {
        let chain = try Chain(parsing: "resize width=320 | noir caption=\"a b\" | save format=webp", catalog: .withNoir)
        let output = RecipeOutput(name: "thumb", chain: chain)
        let decoded = try JSONDecoder().decode(RecipeOutput.self, from: JSONEncoder().encode(output))
        #expect(decoded == output)
    }

    @Test(
        "A mistake is reported with its column and its remedy",
        arguments: [
            ("resize scale=0.5 | niro", "unknown stage 'niro' at column 20; did you mean 'noir'?"),
            ("zzzzzzzz", "unknown stage 'zzzzzzzz' at column 1; it may be barrier, noir, resize, save, tee"),
            ("resize scale=9000", "scale=9000 is out of range at column 8; it may be 0.001 to 16"),
            ("resize scale=0", "scale=0 is out of range at column 8; it may be 0.001 to 16"),
            ("resize scale=half", "scale=half is not a number at column 8; it may be 0.001 to 16"),
            ("resize scale=nan", "scale=nan is not a number at column 8; it may be 0.001 to 16"),
            ("resize width=0", "width=0 is out of range at column 8; it may be 1 to 65535 px"),
            ("resize width=3.5", "width=3.5 is not a whole number at column 8; it may be 1 to 65535 px"),
            ("resize scael=1", "unknown parameter 'scael' of resize at column 8; did you mean 'scale'?"),
            ("resize scale=1 scale=2", "'scale' for the second time at column 16; keep one"),
            ("resize scale", "'scale' without a value at column 8; write scale=value, without spaces"),
            ("resize scale = 1", "'=' without a name at column 14; write name=value, without spaces"),
            ("resize scale=1 noir", "stage 'noir' inside 'resize' at column 16; write a | before it"),
            (
                "resize",
                "'resize' without a size at column 1; give scale=0.5, edge=2000 for the longer side, or "
                    + "width and/or height in pixels"
            ),
            (
                "resize scale=0.5 width=9",
                "'width' beside 'scale' at column 18; give scale, or edge, or width and height"
            ),
            (
                "resize width=9 fit=cover",
                "fit=cover without width and height at column 16; give both, or use fit=inside"
            ),
            ("resize width=9 fit=insid", "fit=insid is unknown at column 16; did you mean 'inside'?"),
            (
                "resize edge=9 height=9",
                "'height' beside 'edge' at column 15; give scale, or edge, or width and height"
            ),
            ("resize edge=9 scale=1", "'edge' beside 'scale' at column 8; give scale, or edge, or width and height"),
            (
                "resize edge=9 fit=cover",
                "fit=cover without width and height at column 15; give both, or use fit=inside"
            ),
            ("noir grain=maybe", "grain=maybe is neither yes nor no at column 6; it may be yes or no"),
            ("noir tint=white", "tint=white is not a colour at column 6; write it as #rrggbb, such as #ffffff"),
            ("noir caption=\"a", "unclosed quote at column 14; close it with \""),
            ("noir caption=\"a\"b", "text after a closing quote at column 17; put a space between"),
            ("", "the chain is empty at column 1; write a stage, such as resize scale=0.5"),
            ("noir || save", "empty stage at column 7; write a stage beside the | or remove it"),
            ("| noir", "empty stage at column 1; write a stage beside the | or remove it"),
            ("noir |", "empty stage at column 6; write a stage beside the | or remove it"),
            ("scale=1", "'scale=1' without a stage at column 1; write a stage's name first"),
            ("noir =1", "'=' without a name at column 6; write name=value, without spaces"),
            ("save | noir", "'save' before other stages at column 1; put it at the end of the chain"),
            ("save | save", "'save' for the second time at column 8; keep one, the last"),
            ("save format=jpg", "format=jpg is unknown at column 6; did you mean 'jpeg'?"),
            ("save quality=0", "quality=0 is out of range at column 6; it may be 1 to 100"),
            (
                "save format=png quality=3",
                "'quality' with format=png, which is lossless at column 17; leave it out, or choose jpeg, webp, avif or jxl"
            ),
            (
                "save effort=3",
                "'effort' with format=jpeg, which does not support it at column 6; leave it out, or choose png, webp, avif, gif or jxl"
            ),
            (
                "save format=avif lossless=yes",
                "'lossless' with format=avif, which does not support it at column 18; leave it out, or choose webp or jxl"
            ),
            (
                "save format=tiff max-bytes=3K",
                "'max-bytes' with format=tiff, which is lossless at column 18; leave it out, or choose jpeg, webp, avif or jxl"
            ),
            (
                "save format=webp progressive=yes",
                "'progressive' with format=webp, which does not support it at column 18; leave it out, or choose jpeg or png"
            ),
            (
                "save format=webp chroma=444",
                "'chroma' with format=webp, which does not support it at column 18; leave it out, or choose jpeg or avif"
            ),
            ("save format=jxl effort=2", "effort=2 is too little for jxl at column 17; it may be 3 to 9"),
            ("save format=jxl effort=10", "effort=10 is out of range at column 17; it may be 0 to 9"),
            (
                "save format=jxl chroma=420",
                "'chroma' with format=jxl, which does not support it at column 17; leave it out, or choose jpeg or avif"
            ),
            ("save format=jxl lossless=yes quality=3", "'quality' beside 'lossless' at column 30; keep one of them"),
            ("save format=same effort=7", "effort=7 is too much for webp at column 18; it may be 0 to 6"),
            (
                "save format=same max-bytes=300K",
                "'max-bytes' with format=same, and not every format supports it at column 18; leave it out, or choose jpeg, webp, avif or jxl"
            ),
            (
                "save format=same lossless=yes",
                "'lossless' with format=same, and not every format supports it at column 18; leave it out, or choose webp or jxl"
            ),
            (
                "save format=gif profile=keep",
                "'profile=keep' with format=gif, which does not support it at column 17; leave it out, or choose another format"
            ),
            (
                "save format=jpeg pages=all",
                "'pages=all' with format=jpeg, which holds only one picture at column 18; leave it out, or choose webp, gif or same"
            ),
            (
                "save pages=all",
                "'pages=all' with format=jpeg, which holds only one picture at column 6; leave it out, or choose webp, gif or same"
            ),
            ("save format=webp effort=7", "effort=7 is too much for webp at column 18; it may be 0 to 6"),
            ("save format=webp lossless=yes quality=3", "'quality' beside 'lossless' at column 31; keep one of them"),
            (
                "save max-bytes=1000",
                "max-bytes=1000 is not a file size at column 6; write it like 300K or 2M, at least 1K"
            ),
            (
                "save max-bytes=9999T9",
                "max-bytes=9999T9 is not a file size at column 6; write it like 300K or 2M, at least 1K"
            ),
            ("save artist=\"\"", "artist= is not a text at column 6; write one line of at most 1000 bytes"),
            (
                "save copyright={year}",
                "copyright={year} has '{year}' in it at column 6; it may be {date}, or {date:%Y} with %Y, %y, %m, %d, %H, %M, %S and %j"
            ),
            (
                "save copyright={date:%Q}",
                "copyright={date:%Q} has '{date:%Q}' in it at column 6; it may be {date}, or {date:%Y} with %Y, %y, %m, %d, %H, %M, %S and %j"
            ),
            (
                "save copyright=a{date",
                "copyright=a{date has '{date' in it at column 6; it may be {date}, or {date:%Y} with %Y, %y, %m, %d, %H, %M, %S and %j"
            ),
            (
                "save metadata=strip artist=Ada",
                "'artist' with metadata=strip, which removes it at column 21; use metadata=copyright, or leave artist out"
            ),
            (
                "save format=gif copyright=Ada",
                "'copyright' with format=gif, which does not support it at column 17; leave it out, or choose another format"
            ),
            (
                "save profile=keep metadata=strip",
                "'profile=keep' with metadata=strip, which removes the profile at column 6; use metadata=copyright, or leave profile out"
            ),
        ])
    func refusals(chain: String, message: String) {
        #expect(refusal(of: chain) == message)
    }

    @Test("Without its plugin a stage is unknown")
    func missingPlugin() {
        #expect(
            refusal(of: "noir", catalog: .builtIn)
                == "unknown stage 'noir' at column 1; it may be barrier, resize, save, tee")
    }

    @Test("A filter can't replace a built-in stage")
    func builtInWins() {
        let impostor = StageDescription(name: "save", summary: "not me", file: "save.so", parameters: [])
        let catalog = StageCatalog(filters: [impostor, StageCatalog.noir])
        #expect(catalog["save"]?.file == nil)
        #expect(catalog.stages.map(\.name) == ["barrier", "noir", "resize", "save", "tee"])
    }

    @Test("Each tee names its result, and names are unique")
    func tees() throws {
        let chain = try Chain(parsing: "tee small | noir | tee name=grey", catalog: .withNoir)
        #expect(chain.tees == ["small", "grey"])
        #expect(refusal(of: "tee | noir") == "'tee' needs 'name' at column 1; write tee text")
        #expect(
            refusal(of: "tee a/b") == "'a/b' can't be the name of a result at column 5; use letters, digits, - and _")
        #expect(
            refusal(of: "tee a | noir | tee a")
                == "tee 'a' for the second time at column 16; give each a name of its own")
        #expect(refusal(of: "tee a b") != nil)
        #expect(refusal(of: "barrier now") == "unknown parameter 'now' of barrier at column 9; it takes none")
    }

    @Test("A chain has at most MaxStages stages, and the first excess stage is refused with its position")
    func mostStages() throws {
        func limited(_ chain: String, _ most: Int) -> String? {
            do throws(ChainProblem) {
                _ = try Chain(parsing: chain, catalog: .withNoir, mostStages: most)
                return nil
            } catch { return error.message }
        }
        #expect(limited("noir | noir | save", 3) == nil)
        #expect(
            limited("noir | tee a | noir | save", 3)
                == "the chain has 4 stages, and MaxStages= in [Daemon] allows 3: 'save' is one too many at column 23; "
                + "make two chains of it, or raise MaxStages")
        let usual = Settings().maxStages
        func noirs(_ count: Int) -> String { Array(repeating: "noir", count: count).joined(separator: " | ") }
        #expect(refusal(of: noirs(usual)) == nil)
        #expect(refusal(of: noirs(usual + 1))?.contains("at column \(usual * 7 + 1)") == true)
    }

    @Test("A chain has at most as many results as a worker can get files for")
    func mostResults() {
        func tees(_ count: Int) -> String { (1...count).map { "tee t\($0)" }.joined(separator: " | ") }
        #expect(refusal(of: tees(Chain.mostResults - 1)) == nil)
        #expect(
            refusal(of: tees(Chain.mostResults))
                == "more than 32 results, including the one from save at column 302; leave out a tee, or make two chains of it"
        )
    }
}
