import Foundation
import Testing

/// A picture's way, which is interrupted at each of its calls.
struct CrashCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var files: [String: String] = [:]
    var inbox = "inbox"
    var path = "album/a.png"
    var picture = Picture.small
    /// Files that are there before: path and text.
    var before: [String: String] = [:]
    /// Answers of the kernel that are changed all the while.
    var injecting: [String] = []
    /// The archive lies on another file system.
    var archiveIsElsewhere = false
    /// The calls on the ledger are interrupted as well.
    var sweepsLedger = false

    static let all = [
        CrashCase(
            testDescription: "two outputs, archived",
            files: [
                "etc/recipes.d/two.recipe":
                    "[Recipe]\nInbox=two\n[Output]\nChain=resize scale=0.5 | save\n[Output small]\nChain=save format=png\n"
            ], inbox: "inbox/two", sweepsLedger: true),
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
            injecting: ["renameat2:error=EINVAL"]),
    ]

    static let archiveElsewhere = CrashCase(
        testDescription: "the archive on another file system", archiveIsElsewhere: true)

    /// Makes a root with a ledger, and puts the picture into the inbox.
    func prepare(_ daemon: DaemonFixture) throws {
        for (path, text) in before { try daemon.write(text, to: path) }
        try daemon.drop(picture, as: path, inbox: inbox)
    }
}
