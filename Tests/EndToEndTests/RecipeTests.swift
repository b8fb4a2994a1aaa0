import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Recipes and their files")
struct RecipeTests {
    private static let two = """
        [Recipe]
        Description=For the web
        Inbox=web
        Match=*.png

        [Output]
        Chain=resize width=20 | noir contrast=1.5 | save format=webp

        [Output thumb]
        Chain=resize width=8 height=8 fit=cover | save format=png
        """

    @Test("two recipes with several outputs each work side by side, each in its own folder")
    func severalOfEach() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.two]) { daemon in
            try daemon.drop(as: "for-noir.png")
            try daemon.drop(as: "sub/for-web.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(
                daemon.files(in: "outbox")
                    == ["noir/for-noir.jpg", "web/sub/for-web.thumb.png", "web/sub/for-web.webp"])
            #expect(daemon.files(in: "archive") == ["noir/for-noir.png", "web/sub/for-web.png"])
        }
    }

    @Test("a name that is taken gets a number, and both outputs of a job get the same number")
    func numbered() async throws {
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": Self.two]) { daemon in
            for _ in 1...3 {
                try daemon.drop(as: "same.png", inbox: "inbox/web")
                try await daemon.waitForAll()
            }
            await daemon.stop()
            #expect(
                daemon.files(in: "outbox/web")
                    == [
                        "same-1.thumb.png", "same-1.webp", "same-2.thumb.png", "same-2.webp", "same.thumb.png",
                        "same.webp",
                    ])
            #expect(daemon.files(in: "archive/web") == ["same-1.png", "same-2.png", "same.png"])
        }
    }

    @Test(
        "Raw= selects a camera file's preview or its samples; a file without a preview fails with the remedy"
    )
    func cameraFiles() async throws {
        func recipe(_ raw: String) -> String {
            "[Recipe]\nInbox=\(raw)\nRaw=\(raw)\n[Output]\nChain=resize scale=0.5 | save\n"
        }
        let recipes = [
            "etc/recipes.d/preview.recipe": recipe("preview"), "etc/recipes.d/develop.recipe": recipe("develop"),
        ]
        try await DaemonFixture.with(recipes) { daemon in
            let colours = (0..<64 * 48 * 3).map { UInt16($0 * 7 % 256) }
            let file = Data(DNG(64, 48, colours: colours).bytes)
            for inbox in ["preview", "develop"] { try daemon.drop(file, as: "a.DNG", inbox: "inbox/\(inbox)") }
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox") == ["develop/a.jpg"])
            #expect(daemon.files(in: "archive") == ["develop/a.DNG"])
            let note = try String(contentsOfFile: daemon.path("failed/preview/a.DNG.error.txt"), encoding: .utf8)
            #expect(note.contains("this dng holds no preview") && note.contains("set Raw=develop in the recipe"))
            #expect(try daemon.call(Call.Recipes()).recipes.first { $0.name == "develop" }?.raw == "develop")

            // For a chain without a recipe, the option --raw takes the place of Raw=.
            try daemon.write(file, to: "mine/b.DNG")
            func run(_ verb: String, _ words: String...) async throws -> Outcome {
                let chain = [verb, daemon.path("mine/b.DNG"), "--chain", "resize scale=0.5 | save"]
                return try await Programs.run("pipectl", ["--root", daemon.root.path] + chain + words)
            }
            for (raw, status) in [("preview", Int32(1)), ("develop", 0)] {
                let added = try await run("add", "--raw", raw, "--wait")
                #expect(added.status == status, "\(added)")
                let tried = try await run("try", "--raw", raw, "--output", daemon.path("mine/\(raw).jpg"))
                #expect(tried.status == status && daemon.exists("mine/\(raw).jpg") == (raw == "develop"), "\(tried)")
                let explained = try await run("explain", "--raw", raw)
                let words = raw == "develop" ? "decode: dng, developed" : "this dng holds no preview"
                #expect(explained.status == 0 && explained.output.contains(words), "\(explained)")
                #expect(explained.output.contains("chain: resize scale=0.5 | save\n"))
            }
            let none = try await Programs.run(
                "pipectl", ["--root", daemon.root.path, "explain", daemon.path("mine/c.DNG"), "--chain", "save"])
            #expect(none.status == 1 && none.errors.contains("there is no file"), "\(none)")
        }
    }

    @Test(
        "format=same keeps the original's format and its suffix, whatever the original's name is")
    func sameFormat() async throws {
        let recipe = "[Recipe]\nInbox=web\n[Output]\nChain=save format=same\n[Output gif]\nChain=save format=gif\n"
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe]) { daemon in
            for name in ["a.png", "photo.jpg"] { try daemon.drop(as: name, inbox: "inbox/web") }
            try await daemon.waitForAll()
            try daemon.drop(
                Data(contentsOf: URL(fileURLWithPath: daemon.path("outbox/web/a.gif"))), as: "b.gif", inbox: "inbox/web"
            )
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(
                daemon.files(in: "outbox/web")
                    == ["a.gif", "a.png", "b-gif.gif", "b.gif", "photo.gif", "photo.png"])
        }
    }

    @Test(
        "Conflict=replace replaces the old result, and Conflict=skip keeps it",
        arguments: ["replace", "skip"])
    func conflict(policy: String) async throws {
        let recipe = "[Recipe]\nInbox=web\nConflict=\(policy)\n[Output]\nChain=resize scale=0.5 | save format=jpeg\n"
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe]) { daemon in
            try daemon.drop(Picture.png(width: 20, height: 20), as: "same.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            try daemon.drop(Picture.png(width: 60, height: 60), as: "same.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == ["done", "done"])
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["web/same.jpg"])
            let width = Picture.jpegSize(try daemon.data("outbox/web/same.jpg"))?.width
            #expect(width == (policy == "replace" ? 30 : 10))
        }
    }

    @Test("mistakes in settings and recipes are reported with file, line, column and the nearest word at a first start")
    func mistakes() async throws {
        let recipe = "[Recipe]\nInbox=web\n\n[Output]\nChain=resize scale=0.5 | niro | save format=jpeg\n"
        let files = ["etc/recipes.d/web.recipe": recipe, "etc/pipelined.conf": "[Daemon]\nDrainTimout=5s\n"]
        try await DaemonFixture.with(files, started: false) { daemon in
            for arguments in [["--check"], []] {
                let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path] + arguments)
                #expect(outcome.status == 78)
                #expect(
                    outcome.errors.contains(
                        "web.recipe:5: unknown stage 'niro' at column 26; did you mean 'noir'?"))
                #expect(
                    outcome.errors.contains(
                        "pipelined.conf:2: unknown setting 'DrainTimout' in [Daemon]; did you mean 'DrainTimeout'?"))
            }
        }
    }

    @Test("drop-ins are read in order, and settings show their source")
    func dropIns() async throws {
        let files = [
            "etc/pipelined.conf": "[Queues]\nPublish=2\nWindow=100\n",
            "etc/pipelined.conf.d/10-first.conf": "[Queues]\nPublish=3\n",
            "etc/pipelined.conf.d/20-second.conf": "[Queues]\nPublish=5\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            let settings = try daemon.call(Call.Settings()).settings
            let publish = try #require(settings.first { $0.key == "Publish" })
            #expect(publish.value == "5")
            #expect(publish.source.hasSuffix("20-second.conf"))
            #expect(settings.first { $0.key == "Window" }?.value == "100")
            #expect(try daemon.status().queues["publish"]?.effective == 5)
        }
    }

    @Test("a start holds a recipe whose outbox lies in an inbox, even behind a link, and no result is taken in")
    func misplaced() async throws {
        let recipe = "[Recipe]\nInbox=web\nOutbox=LINK\n[Output]\nChain=resize scale=0.5\n"
        try await DaemonFixture.with(started: false) { daemon in
            let link = daemon.path("innocent")
            try daemon.write(Picture.small, to: "inbox/results/old.png")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: daemon.path("inbox/results"))
            try daemon.write(recipe.replacingOccurrences(of: "LINK", with: link), to: "etc/recipes.d/web.recipe")
            try await daemon.start()
            let held = try #require(try daemon.status().inboxes.first { $0.recipe == "web" }?.problem)
            #expect(held.contains("results would be taken in again"))
            try daemon.drop(as: "beside.png")
            try await daemon.job("beside.png", becomes: "done")
            #expect(try daemon.list().count == 1)
            #expect(daemon.exists("inbox/results/old.png"))
        }
    }

    @Test(
        "reload and --check refuse an impossible outbox, and a filter without its requirements, with the position"
    )
    func impossible() async throws {
        func recipe(_ name: String, _ outbox: String, _ chain: String = "noir") -> String {
            "[Recipe]\nInbox=\(name)\n  Outbox = \(outbox)\n[Output]\nChain=\(chain)\n"
        }
        try await DaemonFixture.with(["file": "in the way", "inbox/web/x/y": ""]) { daemon in
            try FileManager.default.createSymbolicLink(
                atPath: daemon.path("link"), withDestinationPath: daemon.path("gone"))
            let wrong = [
                ("file", daemon.path("file/below"), "\(daemon.path("file")) is not a folder; move it away"),
                ("kernel", "/proc/results", "/proc is the kernel's /proc, which takes no files"),
                ("long", String(repeating: "x", count: 256), "File name too long; name another folder"),
                ("link", daemon.path("link"), "is a link to \(daemon.path("gone")), which does not exist"),
                ("own", daemon.path("inbox/own/results"), "lies in the inbox \(daemon.path("inbox/own"))"),
                ("other", daemon.path("inbox/web/results"), "lies in the inbox \(daemon.path("inbox/web"))"),
            ]
            try daemon.write(recipe("web", "web"), to: "etc/recipes.d/web.recipe")
            for (name, outbox, _) in wrong {
                try daemon.write(recipe(name, outbox), to: "etc/recipes.d/\(name).recipe")
            }
            try daemon.write(recipe("home", "~/results"), to: "etc/recipes.d/home.recipe")
            try daemon.write(recipe("mark", "mark", "noir | watermark"), to: "etc/recipes.d/mark.recipe")
            let problems = try daemon.call(Call.Reload()).problems
            let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
            #expect(check.status == 78)
            for (name, _, reason) in wrong {
                let file = daemon.path("etc/recipes.d/\(name).recipe")
                let problem = try #require(
                    problems.first { $0.file == file && $0.message.contains(reason) }, "\(problems)")
                #expect(problem.line == 3 && problem.message.hasPrefix("Outbox= at column 12: "), "\(problem)")
                #expect(check.errors.contains("\(file):3: \(problem.message)"))
            }
            for said in [
                "home.recipe:3: Outbox=~/results begins with '~', which only a shell knows; write the whole path",
                "mark.recipe:5: 'watermark' needs 'text' or 'picture' at column 14; write ",
            ] { #expect(check.errors.contains(said), "\(check.errors)") }
            #expect(try daemon.call(Call.Recipes()).recipes.map(\.name) == ["noir"])
            let added = try await daemon.pipectl("add", "--chain", "watermark", daemon.path("file"))
            #expect(added.status == 2 && added.errors.contains("'watermark' needs 'text' or 'picture'"), "\(added)")
        }
    }

    @Test(
        "reload refuses an outbox that the daemon can't make; at a start, or below an absent mount, it waits",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func unmade() async throws {
        let recipe = "[Recipe]\nInbox=web\nOutbox=OUTBOX\n[Output]\nChain=noir | save format=png\n"
        try await DaemonFixture.with(["closed/keep": ""], started: false) { daemon in
            let closed = daemon.path("closed")
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            func use(_ outbox: String) throws {
                try daemon.write(
                    recipe.replacingOccurrences(of: "OUTBOX", with: outbox), to: "etc/recipes.d/web.recipe")
            }
            #expect(chmod(closed, 0o555) == 0)
            try use(closed + "/out")
            try await daemon.start(under: Nobody.wrapper)
            try daemon.drop(as: "a.png", inbox: "inbox/web")
            let event = try await daemon.event { $0.job?.input == "a.png" && $0.job?.state == "waiting" }
            #expect(event.job?.failure == "configuration", "\(event)")
            let problem = try #require(try daemon.call(Call.Reload()).problems.first)
            #expect(
                problem.line == 3
                    && problem.message.hasPrefix("Outbox= at column 8: the outbox \(closed)/out can't be made"))
            #expect(problem.message.contains("\(closed) can't be written: Permission denied; give \(closed) to the"))
            // The daemon's user can't write to /mnt, but a disk may be mounted there later, so the reload accepts the
            // outbox.
            try use("/mnt/pipelined-test-\(UUID().uuidString)/out")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try use(closed + "/out")
            #expect(chmod(closed, 0o755) == 0)
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(daemon.exists("closed/out/a.png"))
        }
    }

    @Test("a reload adopts new recipes, and changes nothing if there is a mistake, which it reports")
    func reload() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Self.two, to: "etc/recipes.d/web.recipe")
            #expect(try await daemon.pipectl("reload").status == 0)
            try daemon.drop(as: "one.png", inbox: "inbox/web")
            try await daemon.job("one.png", becomes: "done")
            try daemon.write("[Recipe]\nInbox=web\n[Output]\nChain=rezise scale=0.5\n", to: "etc/recipes.d/web.recipe")
            let outcome = try await daemon.pipectl("reload")
            #expect(outcome.status == 1)
            #expect((outcome.output + outcome.errors).contains("did you mean 'resize'?"))
            try daemon.drop(as: "two.png", inbox: "inbox/web")
            try await daemon.job("two.png", becomes: "done")
            #expect(daemon.exists("outbox/web/two.webp"))
        }
    }

    @Test("a reload under load takes no file twice, and misses none")
    func reloadUnderLoad() async throws {
        let kept = "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=resize scale=0.5\n"
        try await DaemonFixture.with(["etc/recipes.d/kept.recipe": kept]) { daemon in
            for round in 1...6 {
                for number in 1...20 {
                    try daemon.drop(as: "\(round)-\(number).png")
                    try daemon.drop(as: "\(round)-\(number).png", inbox: "inbox/kept")
                }
                #expect(try daemon.call(Call.Reload()).problems == [])
            }
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == 240)
            await daemon.stop()
            #expect(daemon.files(in: "outbox").count == 240)
            #expect(daemon.files(in: "archive").count == 120)
        }
    }

    @Test("a filter whose plugin's file is missing is not a stage")
    func withoutPlugin() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let folder = daemon.path("programs")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in ["pipelined", "pipelined-render"] {
                // Another process makes the copy. If this process opened the copy for writing, a concurrent fork could
                // keep it open. The kernel does not start a program that is open for writing.
                _ = try await Programs.run(path: "/bin/cp", [Programs.path(name), "\(folder)/\(name)"])
            }
            let without = try await Programs.run(
                path: "\(folder)/pipelined", ["--root", daemon.root.path, "--check"])
            #expect(without.status == 78)
            #expect(without.errors.contains("unknown stage 'noir'"))
            try FileManager.default.createDirectory(
                atPath: daemon.path("plugins"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: Programs.path("libnoir.so"), toPath: daemon.path("plugins/noir.so"))
            let with = try await Programs.run(path: "\(folder)/pipelined", ["--root", daemon.root.path, "--check"])
            #expect(with.status == 0)
            #expect(with.output.contains("Filters: noir"))
        }
    }
}
