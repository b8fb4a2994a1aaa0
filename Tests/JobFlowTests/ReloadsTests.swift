import DaemonInterface
import DaemonRuntime
import Foundation
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import Testing
import WorkerPools

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

@Suite("Reloads")
struct ReloadsTests {
    /// Runs `body` with a real render worker that loads the real filters.
    private func with(_ body: (OwnersFixture, Reloads) async throws -> Void) async throws {
        let worker = try #require(Places.renderWorker)
        try await OwnersFixture.with(program: worker, plugins: [Places.ownPlugins]) {
            (fixture: OwnersFixture) async throws -> Void in
            try await body(fixture, Coordination.sync { fixture.owners.reloads })
            await withCheckedContinuation { continuation in
                Coordination.sync { fixture.owners.pool }.stop { continuation.resume() }
            }
        }
    }

    private func reload(_ reloads: Reloads) async -> Reloaded {
        await withCheckedContinuation { continuation in
            Coordination.async { reloads.reload { continuation.resume(returning: $0) } }
        }
    }

    @Test("a configuration takes effect only when all of it is valid; until then the former stays, with a message")
    func allOrNothing() async throws {
        try await with { (fixture, reloads) async throws in
            let listener = EventListener.listening(to: reloads)
            func window() -> Int { Coordination.sync { fixture.owners.configuration.settings.window } }
            let file = fixture.places.mainConfiguration
            try fixture.write("[Queues]\nWindow=9\n", to: file)
            #expect(await reload(reloads).problems.isEmpty)
            #expect(window() == 9 && Coordination.sync { listener.events } == [.adopted])

            try fixture.write("[Queues]\nWindow=10\nRendre=1\n", to: file)
            #expect(await reload(reloads).problems.count == 1)
            #expect(window() == 9 && Coordination.sync { listener.events } == [.adopted, .status])
            let problem = Coordination.sync { reloads.problem }
            #expect(problem?.hasPrefix("the reload failed, and the previous configuration is in force: ") == true)

            try fixture.write("[Queues]\nWindow=10\n", to: file)
            #expect(await reload(reloads).problems.isEmpty)
            #expect(window() == 10 && Coordination.sync { reloads.problem } == nil)
        }
    }

    @Test("callers that ask during a reload share the next one, which reads the files that they have written")
    func shared() async throws {
        try await with { (fixture, reloads) async throws in
            let listener = EventListener.listening(to: reloads)
            async let first = reload(reloads)
            await fixture.settle()
            try fixture.write("[Queues]\nWindow=9\n", to: fixture.places.mainConfiguration)
            async let second = reload(reloads)
            async let third = reload(reloads)
            let problems = await [first, second, third].flatMap(\.problems)
            #expect(problems.isEmpty)
            #expect(Coordination.sync { listener.events } == [.adopted, .adopted])
            #expect(Coordination.sync { fixture.owners.configuration.settings.window } == 9)
        }
    }

    @Test("a filter whose copy is damaged is loaded again from its file, and reloads continue after that")
    func filter() async throws {
        try await with { (fixture, reloads) async throws in
            #expect(await reload(reloads).problems.isEmpty)
            await withCheckedContinuation { continuation in
                Coordination.async {
                    // No recipe uses this filter, so the call does nothing.
                    reloads.look(for: "nothing") { Issue.record("there is no such filter") }
                    reloads.look(for: "noir") { continuation.resume() }
                }
            }
            #expect(await reload(reloads).problems.isEmpty)
        }
    }

    @Test("a reload is refused when the worker does not start")
    func noWorker() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let reloads = Coordination.sync { fixture.owners.reloads }
            #expect(await reload(reloads).problems.count == 1)
            #expect(Coordination.sync { reloads.problem } != nil)
        }
    }
}
