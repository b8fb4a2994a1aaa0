import Foundation
import PipelineControl
import Testing

@Suite("A picture's way through the daemon")
struct SpineTests {
    @Test("A dropped picture is published at half its size, and its original goes to the archive")
    func spine() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "sunset.png")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == ["done"])
            #expect(jobs.first?.outputs == [daemon.path("outbox/noir/sunset.jpg")])
            #expect(jobs.first?.before?.width == 32)
            #expect(jobs.first?.after.map(\.width) == [16])
            let size = try #require(Picture.jpegSize(try daemon.data("outbox/noir/sunset.jpg")))
            #expect(size == (16, 12))
            await daemon.stop()
            #expect(daemon.files(in: "archive") == ["noir/sunset.png"])
            #expect(daemon.files(in: "inbox") == [])
            #expect(daemon.files(in: "outbox") == ["noir/sunset.jpg"])
        }
    }
}
