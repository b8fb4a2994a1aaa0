import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Taking pictures from an inbox")
struct IntakeTests {
    @Test("pictures in subfolders, also in new ones, keep their subfolder in the outbox")
    func subfolders() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "album/first.png")
            try daemon.drop(as: "album/deep/er/second.png")
            try await daemon.waitForAll()
            try daemon.drop(as: "later/third.png")
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(
                daemon.files(in: "outbox/noir") == ["album/deep/er/second.jpg", "album/first.jpg", "later/third.jpg"])
            #expect(daemon.files(in: "archive/noir").count == 3)
        }
    }

    @Test("the files of a copied folder are taken in name order, in whatever order they arrive")
    func copiedFolder() async throws {
        let names = (1...6).map { "\($0).png" }
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nSettle=1s\n"]) { daemon in
            try daemon.write(Picture.small, to: "elsewhere")
            try daemon.write(Data(), to: "inbox/album/.begun")
            // The daemon is stopped while the files are created, so it notices all of them at once.
            kill(daemon.process, SIGSTOP)
            for name in names.reversed() {
                #expect(link(daemon.path("elsewhere"), daemon.path("inbox/album/\(name)")) == 0)
            }
            kill(daemon.process, SIGCONT)
            // When a folder is moved in, the daemon scans it in name order, including subfolders.
            for name in ["b/2.png", "a/1.png", "c/3.png"] { try daemon.write(Picture.small, to: "moved/\(name)") }
            try FileManager.default.moveItem(atPath: daemon.path("moved"), toPath: daemon.path("inbox/moved"))
            try await daemon.waitForAll()
            let jobs = try daemon.list().map(\.input)
            #expect(jobs.filter { $0.hasPrefix("album/") } == names.map { "album/\($0)" })
            #expect(jobs.filter { $0.hasPrefix("moved/") } == ["moved/a/1.png", "moved/b/2.png", "moved/c/3.png"])
        }
    }

    @Test("files that exist when the daemon starts are taken as well")
    func alreadyThere() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            for number in 1...40 { try daemon.drop(as: "early/\(number).png") }
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == 40)
        }
    }

    @Test("a file that is open for writing is left alone until it is closed, however quiet, and status says why")
    func stillOpen() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nSettle=20ms\nPollInterval=50ms\n"]) { daemon in
            let half = Picture.small.count / 2
            do {
                let file = try Descriptor.open(daemon.path("inbox/upload.png"), O_WRONLY | O_CREAT)
                write(Picture.small.prefix(half), to: file)
                // The daemon takes files that are dropped later, but not this file, because it is still open. Nothing
                // is written to the open file for longer than Settle=.
                for number in 1...5 {
                    try write(Picture.small, slowlyTo: daemon.path("inbox/\(number).png"))
                    try await daemon.job("\(number).png", becomes: "done")
                }
                #expect(try daemon.status().jobs.done == 5)
                #expect(daemon.exists("inbox/upload.png"))
                while try daemon.status().ignored.isEmpty { await Look.again() }
                let left = try daemon.status().ignored
                #expect(left.map(\.path) == [daemon.path("inbox/upload.png")])
                #expect(left.first?.reason.contains("still has it open for writing") == true)
                write(Picture.small.dropFirst(half), to: file)
            }
            try await daemon.job("upload.png", becomes: "done")
            #expect(try daemon.status().ignored.isEmpty)
        }
    }

    @Test(
        "another user's open file is left alone as well, although the kernel grants no lease on it",
        .enabled(if: Nobody.canRunPrograms, "only root may run the daemon as somebody else"))
    func stillOpenByAnother() async throws {
        let files = ["etc/pipelined.conf": "[Inbox]\nSettle=20ms\n", "inbox/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            try await daemon.start(under: Nobody.wrapper)
            // Once this job is done, the inbox is certainly being watched.
            try daemon.drop(as: "first.png")
            try await daemon.job("first.png", becomes: "done")
            for (name, begun) in [("empty.png", 0), ("half.png", Picture.small.count / 2)] {
                let file = try Descriptor.open(daemon.path("inbox/\(name)"), O_WRONLY | O_CREAT)
                write(Picture.small.prefix(begun), to: file)
                for number in 1...3 {
                    let other = "\(number)-beside-\(name)"
                    try write(Picture.small, slowlyTo: daemon.path("inbox/\(other)"))
                    try await daemon.job(other, becomes: "done")
                }
                #expect(daemon.exists("inbox/\(name)"))
                write(Picture.small.dropFirst(begun), to: file)
            }
            for name in ["empty.png", "half.png"] { try await daemon.job(name, becomes: "done") }
        }
    }

    @Test(
        "another user's open file is taken WriterTimeout after its last change: its close may have been missed",
        .enabled(if: Nobody.canRunPrograms, "only root may run the daemon as somebody else"))
    func givenUpWriter() async throws {
        let files = ["etc/pipelined.conf": "[Inbox]\nSettle=20ms\nWriterTimeout=0\n", "inbox/.keep": ""]
        try await DaemonFixture.with(files, started: false) { daemon in
            _ = try await Programs.run(path: "/bin/chown", ["-R", "nobody", daemon.root.path])
            try await daemon.start(under: Nobody.wrapper)
            let file = try Descriptor.open(daemon.path("inbox/open.png"), O_WRONLY | O_CREAT)
            write(Picture.small, to: file)
            try await daemon.job("open.png", becomes: "done")
            #expect(daemon.files(in: "outbox") == ["noir/open.jpg"])
            withExtendedLifetime(file) {}
        }
    }

    @Test("without openat2, in the kernel or by a service's filter, folders are walked one by one, following no link")
    func withoutOpenat2() async throws {
        let refusing = ["/usr/bin/strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=openat2", "-e"]
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: refusing + ["inject=openat2:error=ENOSYS"])
            try daemon.drop(as: "album/day 1/é.png")
            try await daemon.job("album/day 1/é.png", becomes: "done")
            #expect(daemon.files(in: "outbox") == ["noir/album/day 1/é.jpg"])
        }
    }

    @Test("hidden and partial names are ignored silently, and taken as soon as they are renamed")
    func partial() async throws {
        try await DaemonFixture.with { daemon in
            let names = [".hidden.png", "a.png.part", "b.png.crdownload", "c.png.tmp", "d.png~"]
            for name in names { try daemon.drop(as: name) }
            try daemon.drop(as: "whole.png")
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.ignored == 0)
            // The daemon moves the original of whole.png a moment after the job is done. Stop the daemon to wait for
            // the move.
            await daemon.stop()
            #expect(daemon.files(in: "inbox") == names.sorted())
            try await daemon.start()
            try FileManager.default.moveItem(
                atPath: daemon.path("inbox/a.png.part"), toPath: daemon.path("inbox/a.png"))
            try await daemon.job("a.png", becomes: "done")
        }
    }

    @Test("a file that no recipe takes is left alone, counted, and listed with the reason")
    func ignored() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(Data("a note".utf8), as: "notes.txt")
            try daemon.drop(Data("a raw".utf8), as: "DSC_0001.X3F")
            try FileManager.default.createSymbolicLink(
                atPath: daemon.path("inbox/link.png"), withDestinationPath: "/etc/hostname")
            try daemon.drop(as: "picture.png")
            try await daemon.waitForAll()
            let status = try daemon.status()
            #expect(status.jobs.ignored == 3)
            #expect(status.jobs.done == 1)
            let reasons = Dictionary(uniqueKeysWithValues: status.ignored.map { ($0.path, $0.reason) })
            #expect(reasons[daemon.path("inbox/notes.txt")]?.contains("takes no *.txt") == true)
            #expect(reasons[daemon.path("inbox/DSC_0001.X3F")]?.contains("takes no *.x3f") == true)
            #expect(reasons[daemon.path("inbox/link.png")]?.contains("symbolic link") == true)
            try FileManager.default.removeItem(atPath: daemon.path("inbox/notes.txt"))
            try daemon.drop(as: "another.png")
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.ignored == 2)
        }
    }

    @Test("two spellings of the same accent are two files, and a combining mark after a slash hides nothing")
    func bytesAreBytes() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "first")
            try daemon.write(Picture.small, to: "second")
            try daemon.write(Picture.small, to: "third")
            // Call the kernel directly, because Foundation would change the spelling.
            mkdir(daemon.path("inbox") + "/\u{301}folder", 0o755)
            #expect(rename(daemon.path("first"), daemon.path("inbox") + "/\u{e9}t.png") == 0)
            #expect(rename(daemon.path("second"), daemon.path("inbox") + "/e\u{301}t.png") == 0)
            #expect(rename(daemon.path("third"), daemon.path("inbox") + "/\u{301}folder/\u{301}mark.png") == 0)
            try await daemon.waitForAll()
            #expect(try daemon.status().jobs.done == 3)
            await daemon.stop()
            #expect(daemon.files(in: "outbox/noir").count { $0.hasSuffix(".jpg") } == 3)
            #expect(access(daemon.path("outbox/noir") + "/\u{301}folder/\u{301}mark.jpg", F_OK) == 0)
        }
    }

    @Test("a polled inbox takes arriving files, also in new subfolders")
    func polled() async throws {
        let configuration = "[Inbox]\nWatch=poll\nPollInterval=50ms\nSettlePolled=50ms\n"
        try await DaemonFixture.with(["etc/pipelined.conf": configuration]) { daemon in
            try daemon.drop(as: "one.png")
            try daemon.drop(as: "new/two.png")
            try await daemon.job("one.png", becomes: "done")
            #expect(try daemon.status().inboxes.map(\.watch) == ["poll"])
            try await daemon.job("new/two.png", becomes: "done")
        }
    }

    @Test("Original=keep leaves the file in place and takes it once; a changed file is taken again")
    func kept() async throws {
        let recipe = "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=resize scale=0.5 | save format=png\n"
        try await DaemonFixture.with(["etc/recipes.d/kept.recipe": recipe]) { daemon in
            try daemon.drop(as: "picture.png", inbox: "inbox/kept")
            try await daemon.waitForAll()
            #expect(daemon.exists("inbox/kept/picture.png"))
            await daemon.stop()
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().count == 1)
            try daemon.write(Picture.png(width: 40, height: 40), to: "fresh.png")
            #expect(rename(daemon.path("fresh.png"), daemon.path("inbox/kept/picture.png")) == 0)
            try await daemon.event { $0.job?.id == 2 && $0.job?.state == "done" }
        }
    }

    @Test("Original=delete removes the original once its result exists")
    func deleted() async throws {
        let recipe = "[Recipe]\nInbox=gone\nOriginal=delete\n[Output]\nChain=resize scale=0.5\n"
        try await DaemonFixture.with(["etc/recipes.d/gone.recipe": recipe]) { daemon in
            try daemon.drop(as: "picture.png", inbox: "inbox/gone")
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "inbox") == [])
            #expect(daemon.files(in: "archive") == [])
            #expect(daemon.files(in: "outbox") == ["gone/picture.jpg"])
        }
    }

    private func write(_ data: Data, to file: Descriptor) {
        data.withUnsafeBytes { #expect(Foundation.write(file.number, $0.baseAddress, $0.count) == data.count) }
    }

    /// Creates, writes and closes a file in steps, as a program that copies files does.
    private func write(_ data: Data, slowlyTo path: String) throws {
        let file = try Descriptor.open(path, O_WRONLY | O_CREAT)
        write(data, to: file)
    }
}
