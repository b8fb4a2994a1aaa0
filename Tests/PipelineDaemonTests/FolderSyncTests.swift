import Glibc
import SystemCalls
import Testing

@testable import PipelineDaemon

@Suite("Making folders durable together")
struct FolderSyncTests {
    private func outcome(of folders: Set<String>, _ sync: FolderSync) async -> SystemError? {
        await withCheckedContinuation { told in sync.sync(folders) { told.resume(returning: $0) } }
    }

    @Test("everyone who asks is told once, in whatever company, and again when asking later")
    func together() async {
        let sync = FolderSync()
        for _ in 0..<3 {
            let told = await withTaskGroup(of: SystemError?.self) { group in
                for _ in 0..<50 { group.addTask { await outcome(of: ["/", "/tmp"], sync) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(told.count == 50)
            #expect(told.allSatisfy { $0 == nil })
        }
    }

    @Test("a folder that is not there is an error for all who asked for it, and for nobody else")
    func missing() async {
        let sync = FolderSync()
        async let one = outcome(of: ["/not/there"], sync)
        async let two = outcome(of: ["/", "/not/there"], sync)
        async let other = outcome(of: ["/"], sync)
        #expect(await one?.code == ENOENT)
        #expect(await two?.code == ENOENT)
        #expect(await other == nil)
    }

    @Test("where there is nothing to be made durable, that is so at once")
    func nothing() async {
        #expect(await outcome(of: [], FolderSync()) == nil)
    }
}
