import Foundation
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import InboxWatching

@Suite("An inbox that keeps its originals")
struct KeptInboxTests {
    @Test("nothing is taken before the inbox knows which files it has already taken")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            for name in ["new.png", "old.png"] {
                try Data("picture".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            var kept = KeptFiles()
            kept.insert("\(folder)/old.png", try #require(try FileSystem.status("\(folder)/old.png")).identity)
            let sink = InboxSink(kept: kept, failures: 1)
            let inbox = sink.inbox(folder, original: .keep)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream where sink.taken.contains("new.png") { break }
            #expect(sink.taken == ["new.png"])
            #expect(sink.asked == 2)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }
}
