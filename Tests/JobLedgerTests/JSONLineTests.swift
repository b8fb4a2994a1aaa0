import Foundation
import PipelineModel
import SystemCalls
import Testing

@testable import JobLedger
@testable import JobModel

@Suite("JSON that is written several times per job")
struct JSONLineTests {
    private func standard(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private var story: JobStory {
        var story = JobStory()
        story.header = "jpeg 24 × 16, 8 bit, \"odd\" \\ profile \u{1} \u{1f}"
        story.before = .init(format: "jpeg", width: 24, height: 16, bytes: 1016)
        story.after = [
            .init(format: "png", width: 1, height: 2, bytes: 3), .init(format: "", width: 0, height: -1, bytes: 0),
        ]
        story.stage = "save"
        story.chapters = [
            .init(
                kind: "render", queue: "render", segment: 1, state: "failed", started: 0.25, finished: 1.75,
                detail: "grey at 1/2", attempt: 2, account: .init(worker: 7, read: 8, written: 9), failure: .crash),
            .init(kind: "publish", queue: "publish", state: "executing", account: .init()),
        ]
        return story
    }

    @Test("a story is written exactly as JSONEncoder would, and is read back unchanged")
    func stories() throws {
        for story in [story, JobStory()] {
            let text = try JSONText.encode(story)
            #expect(try text == standard(story))
            #expect(try JSONText.decode(JobStory.self, text) == story)
        }
    }

    @Test("the intent to publish, and lists, are written exactly as JSONEncoder would")
    func intents() throws {
        let intent = PublishIntent(
            steps: ConflictPolicy.allCases.map {
                .init(
                    staging: "/a/.staging/ü\t.jpg", target: "/a/\"b\".jpg", conflict: $0,
                    file: $0 == .number ? .init(device: 0, inode: 1, size: 2, modified: 3) : nil)
            })
        let text = try JSONText.encode(intent)
        #expect(try JSONText.decode(PublishIntent.self, text) == intent)
        #expect(try JSONText.encode(["a/b", "c"]) == standard(["a/b", "c"]))
        #expect(try JSONText.encode([Int]()) == "[]")
        #expect(try JSONText.encode([1, -2]) == "[1,-2]")
    }
}
