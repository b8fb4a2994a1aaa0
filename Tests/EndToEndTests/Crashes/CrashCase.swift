import Foundation
import Glibc
import TestTools
import Testing

/// The processing of one picture. The sweep kills the daemon at each file call that the daemon makes for this picture.
struct CrashCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var files: [String: String] = [:]
    var inbox = "inbox"
    var path = "album/a.png"
    var picture = Picture.small
    /// The texts of files that exist before the picture is processed, by path.
    var before: [String: String] = [:]
    /// File calls that are made to fail, or to return a false result, in every run.
    var changes: [FileCalls.Change] = []
    /// Whether the archive lies on another file system.
    var archiveIsElsewhere = false
    /// Calls on the ledger at which the daemon is killed as well. Every commit ends with `fdatasync`.
    var callsOnLedger = Sweep.of([], all: ["fdatasync"])
    /// Arguments for pipectl. If there are any, the picture is done before the sweep begins, and the sweep interrupts
    /// this command.
    var command: [String] = []
    /// Files that are written after the picture is done and before the command runs.
    var then: [String: String] = [:]

    static let all = [
        CrashCase(
            testDescription: "two outputs, archived",
            files: [
                "etc/recipes.d/two.recipe":
                    "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.5 | save\n[Output small]\nChain=save format=png\n"
            ], inbox: "inbox/two", callsOnLedger: Sweep.of(["fdatasync"], all: ["pwrite64", "fdatasync"])),
        CrashCase(
            testDescription: "the original is deleted, and names are chosen",
            files: [
                "etc/recipes.d/once.recipe":
                    "[Recipe]\nInbox=once\nOriginal=delete\nName={album}/{date:%Y}/{counter:3}-{hash:8}\n[Output]\nChain=save\n"
            ], inbox: "inbox/once"),
        CrashCase(
            testDescription: "the original is kept, a result replaced",
            files: [
                "etc/recipes.d/kept.recipe":
                    "[Recipe]\nInbox=kept\nOriginal=keep\nConflict=replace\n[Output]\nChain=save\n"
            ], inbox: "inbox/kept", before: ["outbox/kept/album/a.jpg": "an older one"]),
        CrashCase(testDescription: "a picture that fails", picture: Data("no picture".utf8)),
        CrashCase(
            testDescription: "a file system that can't rename without replacing",
            changes: [.fail("renameat2", EINVAL)]),
    ]

    private static let two =
        "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.5 | save\n[Output small]\nChain=save format=png\n"

    /// The redo replaces one result, removes one and adds one.
    static let redone = CrashCase(
        testDescription: "a redo under another recipe", files: ["etc/recipes.d/two.recipe": two], inbox: "inbox/two",
        command: ["redo", "1"],
        then: [
            "etc/recipes.d/two.recipe":
                "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.25 | save\n[Output large]\nChain=save format=png\n"
        ])

    static let again = [
        redone,
        {
            var crash = redone
            crash.testDescription = "a redo on a file system that can't exchange two files"
            crash.changes = [.fail("renameat2", EINVAL)]
            return crash
        }(),
        CrashCase(
            testDescription: "an undo", files: ["etc/recipes.d/two.recipe": two], inbox: "inbox/two",
            command: ["undo", "1"]),
    ]

    static let archiveElsewhere = CrashCase(
        testDescription: "the archive on another file system", archiveIsElsewhere: true)

    /// Puts the picture into the inbox of a stopped daemon.
    func prepare(_ daemon: DaemonFixture) async throws {
        for (path, text) in before { try daemon.write(text, to: path) }
        try daemon.drop(picture, as: path, inbox: inbox)
        guard !command.isEmpty else { return }
        try await daemon.start()
        try await daemon.waitForAll()
        await daemon.stop()
        for (path, text) in then { try daemon.write(text, to: path) }
    }

    /// Runs the command, and waits until the daemon has nothing left to do.
    func run(_ daemon: DaemonFixture) async throws {
        if !command.isEmpty { _ = try await Programs.run("pipectl", ["--root", daemon.root.path] + command) }
        try await daemon.waitForAll()
    }
}
