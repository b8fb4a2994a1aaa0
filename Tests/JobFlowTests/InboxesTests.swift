import DaemonRuntime
import Dispatch
import InboxWatching
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing

@testable import JobFlow

@Suite("Inboxes")
struct InboxesTests {
    private static let recipe = "[Inbox]\nSettle=0\n[Output]\nChain=save\n"

    /// A sink that keeps inboxes from opening until its gate is open.
    private final class HangingSink: IntakeSink {
        let gate = Gate()

        func needsClaims(in folder: String) throws -> Bool { false }
        func kept(in folder: String) throws -> KeptFiles {
            gate.wait()
            return KeptFiles()
        }
        func accept(
            _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
            done: @escaping @Sendable () -> Void
        ) {}
        func knows(source: String) throws -> Bool { false }
        func forEachKnown(in folder: String, _ each: (String) -> Void) throws {}
        func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool { false }
        func ended(folder: String, of inbox: Inbox) {}
        func changed(_ inbox: Inbox) {}
    }

    @Test("inboxes are open when each is watched, also after a reload, and each file is taken once")
    func open() async throws {
        try await OwnersFixture.with(recipe: Self.recipe) { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            Coordination.sync {
                owners.inboxes.open(adopting: true, into: owners.intake)
                #expect(!owners.inboxes.areOpen)
            }
            await withCheckedContinuation { continuation in owners.whenOpen { continuation.resume() } }
            Coordination.sync {
                #expect(owners.inboxes.areOpen)
                #expect(owners.inboxes.all.map(\.folder).contains("\(fixture.places.inbox)/r"))
                #expect(owners.inboxes.inbox(of: "r")?.recipe.name == "r" && owners.inboxes.inbox(of: "x") == nil)
            }
            let former = Coordination.sync { owners.inboxes.inbox(of: "r") }
            Coordination.sync { owners.inboxes.open(into: owners.intake) }
            #expect(Coordination.sync { owners.inboxes.inbox(of: "r") } !== former)
            await fixture.until { owners.inboxes.areIdle }
            try fixture.write("picture", to: "\(fixture.places.inbox)/r/a.png")
            await fixture.until { owners.jobs.ids == [1] }
            #expect(try fixture.ledger.counts() == [.queued: 1])
        }
    }

    @Test("a hanging inbox is waited for only until the timeout, but its own work waits until it answers")
    func hanging() async throws {
        let settings = "[Daemon]\nHangTimeout=1\n"
        try await OwnersFixture.with(settings, recipe: Self.recipe) { (fixture: OwnersFixture) async throws -> Void in
            let (inboxes, sink) = (Coordination.sync { fixture.owners.inboxes }, HangingSink())
            Coordination.sync { inboxes.open(into: sink) }
            await withCheckedContinuation { continuation in
                Coordination.async {
                    inboxes.whenOpen { continuation.resume() }
                    #expect(!inboxes.areOpen)
                }
            }
            Coordination.sync { #expect(inboxes.areOpen && !inboxes.areIdle) }
            await withCheckedContinuation { continuation in
                // If the completion were called twice, the continuation would crash the test.
                Coordination.async {
                    inboxes.catchUp(cancelling: .all) { _, left in
                        #expect(
                            left.contains { $0.hasPrefix("inbox \(fixture.places.inbox)/r does not answer") }, "\(left)"
                        )
                        continuation.resume()
                    }
                }
            }
            #expect(!sink.gate.isOpen)
            await withCheckedContinuation { continuation in
                Coordination.async {
                    let line = DispatchQueue(label: "test")
                    inboxes.whenOpened(["\(fixture.places.inbox)/r"], on: line) {
                        #expect(sink.gate.isOpen)
                        continuation.resume()
                    }
                    // This call waits for no inbox, so its body runs immediately and opens the gate.
                    inboxes.whenOpened([], on: line) { sink.gate.open() }
                }
            }
            await inboxes.stopped()
            await fixture.settle()
        }
    }
}
