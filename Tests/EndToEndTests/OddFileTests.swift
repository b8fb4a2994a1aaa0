import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Odd files and names")
struct OddFileTests {
    @Test("pictures, results and explanations can have any name, and a log line stays one line")
    func names() async throws {
        try await DaemonFixture.with { daemon in
            let stems = [
                "two\nlines", "-rf", "a..b", "a.b.c", "tab\tand \"quotes\"", "'; rm *; '", "$(reboot)", "\u{1b}[31mred",
                "%s%n", "back\\slash", String(repeating: "x", count: 251), String(repeating: "é", count: 125),
            ]
            for stem in stems {
                try Self.put(Picture.small, "inbox/\(stem).png", daemon)
                try Self.put(Data("text".utf8), "inbox/\(stem).gif", daemon)
            }
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == stems.count)
            let failed = try daemon.list(["failed"])
            #expect(Set(failed.map(\.input)) == Set(stems.map { "\($0).gif" }))
            await daemon.stop()
            #expect(daemon.log.split(separator: "\n").allSatisfy { $0.first?.isNumber == true })
            #expect(!daemon.log.contains("\u{1b}[31mred"))
            for stem in stems {
                #expect(access(daemon.root.path + "/outbox/noir/\(stem).jpg", F_OK) == 0, "\(stem)")
                #expect(access(daemon.root.path + "/archive/noir/\(stem).png", F_OK) == 0, "\(stem)")
                #expect(access(daemon.root.path + "/failed/noir/\(stem).gif", F_OK) == 0, "\(stem)")
            }
            #expect(daemon.files(in: "failed").count { $0.hasSuffix(".error.txt") } == stems.count)
            let note = try daemon.text("failed/noir/two\nlines.gif.error.txt")
            #expect(note.hasPrefix("two\\nlines.gif could not be processed."))
            #expect(daemon.files(in: "inbox") == [])
        }
    }

    @Test("special files and links elsewhere are not followed, and a folder is a folder whatever its name is")
    func kinds() async throws {
        try await DaemonFixture.with { daemon in
            let elsewhere = daemon.path("elsewhere")
            try daemon.write(Picture.small, to: "elsewhere/secret.png")
            #expect(symlink(elsewhere, daemon.path("inbox/folder")) == 0)
            #expect(symlink(elsewhere + "/secret.png", daemon.path("inbox/picture.png")) == 0)
            #expect(symlink("/nowhere", daemon.path("inbox/dangling.jpg")) == 0)
            #expect(mkfifo(daemon.path("inbox/pipe.jpg"), 0o644) == 0)
            // Not every user may create device files.
            let isAllowed = mknod(daemon.path("inbox/zero.jpg"), S_IFCHR | 0o644, 1 << 8 | 5) == 0
            #expect(rename(try Self.written(Data("x".utf8), daemon), daemon.root.path + "/inbox/plain") == 0)
            try daemon.drop(as: "a.jpg/b.png")
            try daemon.drop(as: "good.png")
            try await daemon.waitForAll()
            func reason(_ name: String) throws -> String {
                try daemon.call(Call.Explain(file: daemon.path("inbox/\(name)"))).explanation.why
            }
            #expect(try reason("folder").contains("symbolic link is not followed"))
            #expect(try reason("picture.png").contains("symbolic link is not followed"))
            #expect(try reason("dangling.jpg").contains("symbolic link is not followed"))
            #expect(try reason("pipe.jpg").contains("special file is not followed"))
            if isAllowed { #expect(try reason("zero.jpg").contains("special file is not followed")) }
            #expect(try daemon.list().map(\.input).sorted() == ["a.jpg/b.png", "good.png"])
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/a.jpg/b.jpg", "noir/good.jpg"])
            #expect(daemon.exists("elsewhere/secret.png"))
        }
    }

    @Test("a file whose name is not UTF-8 stays where it is; its name is shown with escapes, with the reason")
    func misnamed() async throws {
        try await DaemonFixture.with { daemon in
            let misnamed =
                Array((daemon.root.path + "/inbox/").utf8).map { CChar(bitPattern: $0) } + [-1, -2, 46, 106, 0]
            #expect(rename(try Self.written(Picture.small, daemon), misnamed) == 0)
            try daemon.drop(as: "good.png")
            try await daemon.waitForAll()
            let name = daemon.path("inbox") + #"/\xff\xfe.j"#
            let ignored = try daemon.call(Call.ListIgnored()).ignored
            #expect(ignored.filter { $0.reason.contains("UTF-8") }.map(\.path) == [name])
            #expect(access(misnamed, F_OK) == 0)
            #expect(unlink(misnamed) == 0)
            while try !daemon.status().ignored.isEmpty { await Look.again() }
        }
    }

    @Test("two hard links to one file are two pictures, and a third link, outside, stays")
    func hardLinks() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine.png")
            #expect(link(daemon.path("mine.png"), daemon.path("inbox/one.png")) == 0)
            #expect(link(daemon.path("mine.png"), daemon.path("inbox/two.png")) == 0)
            try await daemon.job("one.png", becomes: "done")
            try await daemon.job("two.png", becomes: "done")
            await daemon.stop()
            #expect(daemon.files(in: "archive") == ["noir/one.png", "noir/two.png"])
            #expect(try daemon.data("mine.png") == Picture.small)
        }
    }

    @Test(
        "a file that the daemon may not read stays where it is until it may, with user, file and mode as the reason",
        .enabled(if: Nobody.canRunPrograms, "nobody can't reach the programs that were built, or is not there"))
    func unreadable() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            for folder in ["inbox/closed", "inbox/open"] {
                try FileManager.default.createDirectory(atPath: daemon.path(folder), withIntermediateDirectories: true)
            }
            try daemon.drop(as: "open/shut.png")
            try daemon.drop(as: "closed/inside.png")
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            #expect(chmod(daemon.path("inbox/open/shut.png"), 0) == 0)
            #expect(chmod(daemon.path("inbox/closed"), 0) == 0)
            try await daemon.start(under: Nobody.wrapper)
            try await daemon.waitForAll()
            let ignored = try daemon.status().ignored.map { "\($0.path) \($0.reason)" }.sorted()
            #expect(ignored.count == 2)
            for (line, path) in zip(ignored, ["inbox/closed", "inbox/open/shut.png"]) {
                #expect(
                    line.hasPrefix(daemon.path(path)) && line.contains("nobody") && line.contains("mode is 0"),
                    "\(line)")
            }
            let verdict = try await daemon.pipectl("status", "--check")
            #expect(verdict.status == 1 && verdict.output.contains("can't be read by user nobody"), "\(verdict)")
            #expect(verdict.output.contains("(and 1 more)"), "\(verdict)")
            #expect(chmod(daemon.path("inbox/open/shut.png"), 0o644) == 0)
            #expect(chmod(daemon.path("inbox/closed"), 0o755) == 0)
            try await daemon.job("open/shut.png", becomes: "done")
            try await daemon.job("closed/inside.png", becomes: "done")
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("a folder that becomes a link while its picture waits there under Original=keep is not followed")
    func linkedFolder() async throws {
        let files = ["etc/recipes.d/noir.recipe": "[Recipe]\nOriginal=keep\n[Output]\nChain=resize scale=0.5\n"]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "album/one.png")
            try await daemon.job("album/one.png", becomes: "queued")
            try daemon.write(Picture.small, to: "elsewhere/one.png")
            #expect(rename(daemon.path("inbox/album"), daemon.path("away")) == 0)
            #expect(symlink(daemon.path("elsewhere"), daemon.path("inbox/album")) == 0)
            _ = try daemon.call(Call.Resume())
            try await daemon.job("album/one.png", becomes: "failed")
            #expect(try daemon.list(["failed"]).first?.error?.contains("Too many levels of symbolic links") == true)
            #expect(daemon.files(in: "outbox/noir") == [])
        }
    }

    /// Writes a file through system calls, because Foundation changes the spelling of names.
    private static func put(_ data: Data, _ path: String, _ daemon: DaemonFixture) throws {
        #expect(rename(try written(data, daemon), daemon.root.path + "/" + path) == 0, "\(path)")
    }

    private static func written(_ data: Data, _ daemon: DaemonFixture) throws -> String {
        let name = "outside-\(UUID().uuidString)"
        try daemon.write(data, to: name)
        return daemon.path(name)
    }

    @Test(
        "a file in a folder that the daemon may not write to is processed in place, once, and stays",
        .enabled(if: Nobody.canRunPrograms, "only root may run the daemon as somebody else"))
    func closedFolder() async throws {
        try await DaemonFixture.with(["inbox/.keep": ""], started: false) { daemon in
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            try await daemon.start(under: Nobody.wrapper)
            // `cp -r` creates folders with this mode under umask 022.
            try daemon.drop(as: "album/day 1/sunset.png")
            try await daemon.job("album/day 1/sunset.png", becomes: "done")
            #expect(daemon.exists("outbox/noir/album/day 1/sunset.jpg"))
            #expect(daemon.exists("inbox/album/day 1/sunset.png"))
            try await daemon.says("user nobody may not take them out (its mode is 755)")
            await daemon.stop()
            try await daemon.start(under: Nobody.wrapper)
            try await daemon.waitForAll()
            #expect(try daemon.list().count == 1)
        }
    }

    @Test(
        "an unusable inbox is reported with user, folder and mode, and is watched once it is usable",
        .enabled(if: Nobody.canRunPrograms, "only root may run the daemon as somebody else"))
    func closedInbox() async throws {
        let recipe = "[Recipe]\nInbox=shut\n[Inbox]\nPollInterval=1s\n[Output]\nChain=noir\n"
        let files = ["etc/recipes.d/shut.recipe": recipe, "inbox/shut/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            let inbox = daemon.path("inbox/shut")
            #expect(chown(inbox, 0, 0) == 0 && chmod(inbox, 0o700) == 0)
            try await daemon.start(under: Nobody.wrapper)
            let problem = try #require(try daemon.status().inboxes.first { $0.recipe == "shut" }?.problem)
            #expect(problem.contains("can't be used by user nobody (\(inbox) has mode 700)"), "\(problem)")
            #expect(chmod(inbox, 0o777) == 0)
            try daemon.drop(as: "sunset.png", inbox: "inbox/shut")
            try await daemon.job("sunset.png", becomes: "done")
        }
    }

    @Test("a path of 4,096 bytes, now or at its destination, is left alone with that reason")
    func longPaths() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let inbox = daemon.path("inbox")
            try daemon.write(Picture.small, to: "inbox/good.png")
            let made = try await Python.run(Self.makeLongPaths, inbox)
            try #require(made.status == 0, "\(made.errors)")
            try await daemon.start()
            try await daemon.job("good.png", becomes: "done")
            while try daemon.status().ignored.count < 2 { await Look.again() }
            let ignored = try daemon.status().ignored
            #expect(
                ignored.count == 2 && ignored.allSatisfy { $0.reason.contains("its path is too long") }, "\(ignored)")
            _ = try await Programs.run(path: "/bin/rm", ["-rf", "\(inbox)/deep"])
        }
    }

    /// Makes a picture whose path has 4,092 bytes, which the kernel still accepts, and a picture in a subfolder, whose
    /// path has 4,293 bytes. The daemon considers both paths too long.
    private static let makeLongPaths = """
        import os, shutil, sys
        picture = open(sys.argv[1] + "/good.png", "rb").read()
        here, length = os.open(sys.argv[1], os.O_RDONLY), len(sys.argv[1])
        def enter(name):
            global here, length
            os.mkdir(name, dir_fd=here)
            here, length = os.open(name, os.O_RDONLY, dir_fd=here), length + 1 + len(name)
        def put():
            file = os.open("x.png", os.O_WRONLY | os.O_CREAT, dir_fd=here)
            os.write(file, picture)
        enter("deep")
        while length < 3850: enter("d" * 200)
        enter("d" * (4085 - length))
        put()
        enter("d" * 200)
        put()
        """
}

extension Nobody {
    static let canRunPrograms: Bool = {
        guard canOwnFiles else { return false }
        let arguments = wrapper.dropFirst() + [Programs.path("pipelined-render"), "--version"]
        return (try? ChildProcess(wrapper[0], Array(arguments)))?.wait().status == 0
    }()
}
