import Foundation
import PipelineModel
import Synchronization
import SystemCalls
import Testing

@testable import PipelineDaemon

@Suite("An inbox whose pictures stay")
struct KeptInboxTests {
    /// A ledger that can't be read at first.
    private final class Sink: IntakeSink {
        private struct Unreadable: Error {}

        private let state: Mutex<(kept: KeptFiles, asked: Int, taken: [String])>
        let isWatched = AsyncStream<Void>.makeStream()

        init(kept: KeptFiles) { state = Mutex((kept, 0, [])) }

        var asked: Int { state.withLock { $0.asked } }
        var taken: [String] { state.withLock { $0.taken } }

        func accept(
            _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
            done: @escaping @Sendable () -> Void
        ) {
            state.withLock { $0.taken += claims.map(\.path) }
            counted()
            done()
        }

        func knows(source: String) throws -> Bool { false }

        func needsClaims(in folder: String) throws -> Bool { false }

        func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool { false }

        func kept(in folder: String) throws -> KeptFiles {
            try state.withLock { state in
                state.asked += 1
                if state.asked == 1 { throw Unreadable() }
                return state.kept
            }
        }

        func changed(_ inbox: Inbox) {
            if inbox.report.scanned, inbox.report.settling == 0 { isWatched.continuation.yield() }
        }
    }

    @Test("takes nothing before it is known what it has taken already")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            for name in ["new.png", "old.png"] {
                try Data("picture".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            var kept = KeptFiles()
            kept.insert("\(folder)/old.png", try #require(try FileSystem.status("\(folder)/old.png")).identity)
            var intake = InboxSettings()
            intake.settle = .zero
            intake.pollInterval = .milliseconds(10)
            let recipe = Recipe(name: "r", inbox: "", outbox: "", original: .keep, intake: intake, outputs: [])
            let sink = Sink(kept: kept)
            let inbox = Inbox(
                folder: folder, recipe: recipe, longestPlace: 0, excluded: [], claims: ClaimFolders(root: "r"),
                sink: sink)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream where sink.taken.contains("new.png") { break }
            #expect(sink.taken == ["new.png"])
            #expect(sink.asked == 2)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }
}
