import Dispatch
import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import PictureFiles

@Suite("Making an outbox's results durable together")
struct OutboxLineTests {
    private func outcome(of folders: Set<String>, _ line: OutboxLine) async -> SystemError? {
        await withCheckedContinuation { told in
            line.take(
                OutboxLine.Turn {
                    folders
                } done: {
                    told.resume(returning: $0 as? SystemError)
                })
        }
    }

    @Test("each call is answered once, alone or in a group, and a later call is answered again")
    func together() async {
        let line = OutboxLine()
        for _ in 0..<3 {
            let told = await withTaskGroup(of: SystemError?.self) { group in
                for _ in 0..<50 { group.addTask { await outcome(of: ["/", "/tmp"], line) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(told.count == 50)
            #expect(told.allSatisfy { $0 == nil })
        }
    }

    @Test("a missing folder is an error for its callers only")
    func missing() async {
        let line = OutboxLine()
        async let one = outcome(of: ["/not/there"], line)
        async let two = outcome(of: ["/", "/not/there"], line)
        async let other = outcome(of: ["/"], line)
        #expect(await one?.code == ENOENT)
        #expect(await two?.code == ENOENT)
        #expect(await other == nil)
    }

    @Test("work that fails is reported to its caller only")
    func failingWork() async {
        let line = OutboxLine()
        async let failing: SystemError? = withCheckedContinuation { told in
            line.take(
                OutboxLine.Turn {
                    throw SystemError("rename", "a", code: EXDEV)
                } done: {
                    told.resume(returning: $0 as? SystemError)
                })
        }
        async let other = outcome(of: ["/"], line)
        #expect(await failing?.code == EXDEV)
        #expect(await other == nil)
    }

    @Test("all files are made durable, even more than can be open at once")
    func manyFiles() throws {
        try withTemporaryFolder { folder in
            let chain = try Chain(parsing: "save format=jpeg", catalog: .builtIn)
            let plan = Planner.plan(outputs: [RecipeOutput(name: nil, chain: chain)], inBatch: false)
            let picture = try #require(plan.results.first)
            let files = try (0..<200).map { number in
                let path = "\(folder)/\(number)"
                _ = try Descriptor.open(path, O_WRONLY | O_CREAT)
                return ImageHandle.Staged(picture: picture, path: path)
            }
            let line = OutboxLine()
            let told = Mutex<[Bool]>([])
            let all = DispatchGroup()
            for part in [files[..<100], files[100..<150], files[150...]] {
                all.enter()
                line.take(
                    OutboxLine.Turn(files: Array(part)) {
                        [folder]
                    } done: { error in
                        told.withLock { $0.append(error == nil) }
                        all.leave()
                    })
            }
            all.wait()
            #expect(told.withLock { $0 } == [true, true, true])
        }
    }

    @Test("a call without anything to make durable is answered at once")
    func nothing() async {
        #expect(await outcome(of: [], OutboxLine()) == nil)
    }
}
