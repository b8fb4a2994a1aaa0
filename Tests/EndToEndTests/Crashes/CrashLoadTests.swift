import Foundation
import TestTools
import Testing

@Suite("Killed under load")
struct CrashLoadTests {
    private static let kills = 30
    private static let perRound = 3
    private static let recipes = ["archived", "deleted", "kept"]
    private static let files = [
        // On a busy machine many of the kills may hit the same picture. CrashTries= keeps that picture from failing.
        "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Daemon]\nCrashTries=100\n",
        "etc/recipes.d/archived.recipe": """
        [Recipe]
        Inbox=archived
        [Output]
        Chain=resize scale=0.5 | noir | save
        [Output small]
        Chain=resize width=8 | save format=png
        """,
        "etc/recipes.d/deleted.recipe": """
        [Recipe]
        Inbox=deleted
        Original=delete
        [Output]
        Chain=save
        [Output small]
        Chain=save format=png
        """,
        "etc/recipes.d/kept.recipe": """
        [Recipe]
        Inbox=kept
        Original=keep
        [Output]
        Chain=noir | save
        [Output small]
        Chain=save format=png
        """,
        "state/id": "test\n",
    ]

    private static let calls = ["renameat2", "fsync", "fdatasync", "pwrite64", "mkdir", "mkdirat"]

    @Test(
        "after 30 kills at random, with three kinds of Original= and two outputs, nothing is lost, repeated or partial",
        arguments: Sweep.of(20_261_121...20_261_121, all: 20_261_121...20_261_124))
    func load(seed: Int) async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            await daemon.stop()
            var random = SeededNumbers(seed: UInt64(seed))
            var names: [String] = []
            var kills = 0
            var rounds = 0
            while kills < Self.kills {
                rounds += 1
                try #require(rounds < 3 * Self.kills)
                for number in 1...Self.perRound {
                    let name = "\(rounds)-\(number)"
                    for recipe in Self.recipes { try daemon.drop(as: "\(name).png", inbox: "inbox/\(recipe)") }
                    names.append(name)
                }
                let call = try #require(Self.calls.randomElement(using: &random))
                let count = Int.random(in: 1...12, using: &random)
                if try await daemon.isKilled(under: FileCalls.wrapper([.kill(call, count)])) { kills += 1 }
                for name in names { checkMidway(name, daemon) }
            }
            try await daemon.start()
            try await daemon.waitForAll()
            await daemon.stop()
            try await checkEnd(names.sorted(), daemon)
        }
    }

    /// Checks that no original has left its place before its results exist.
    private func checkMidway(_ name: String, _ daemon: DaemonFixture) {
        for recipe in Self.recipes {
            let inInbox = daemon.exists("inbox/\(recipe)/\(name).png")
            let claimed = (0...2).contains { daemon.exists("inbox/\(recipe)/.pipelined/test/\($0)/\(name).png") }
            let archived = daemon.exists("archive/\(recipe)/\(name).png")
            let published = ["jpg", "small.png"].allSatisfy { daemon.exists("outbox/\(recipe)/\(name).\($0)") }
            let places = [inInbox, claimed, archived].count { $0 }
            #expect(places == 1 || (places == 0 && recipe == "deleted"), "\(recipe)/\(name)")
            #expect(published || inInbox || claimed, "\(recipe)/\(name)")
        }
    }

    private func checkEnd(_ names: [String], _ daemon: DaemonFixture) async throws {
        let accounts = try await Accounts(daemon)
        #expect(accounts.remains == [])
        #expect(accounts.jobs.count == names.count * Self.recipes.count)
        #expect(accounts.jobs.allSatisfy { $0.contains(".png done 1 ") }, "\(accounts)")
        let originals = names.map { "\($0).png" }.sorted()
        #expect(daemon.files(in: "inbox") == originals.map { "kept/\($0)" })
        #expect(daemon.files(in: "archive") == originals.map { "archived/\($0)" })
        let results = names.flatMap { ["\($0).jpg", "\($0).small.png"] }
        let expected = Self.recipes.flatMap { recipe in results.map { "\(recipe)/\($0)" } }.sorted()
        #expect(daemon.files(in: "outbox") == expected)
        #expect(daemon.files(in: "failed") + daemon.files(in: "cancelled") == [])
        // All pictures are identical, so their results must be identical as well.
        for recipe in Self.recipes {
            for suffix in ["jpg", "small.png"] {
                let made = Set(try names.map { try daemon.data("outbox/\(recipe)/\($0).\(suffix)") })
                #expect(made.count == 1)
                #expect(suffix != "jpg" || made.first.flatMap(Picture.jpegSize) != nil)
            }
        }
    }
}
