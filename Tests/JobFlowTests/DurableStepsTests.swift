import DaemonRuntime
import Foundation
import Glibc
import JobLedger
import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import DaemonConfiguration
@testable import InboxWatching
@testable import JobFlow
@testable import PictureFiles

/// Checks single steps. `PowerCutTests` check with complete daemons that files survive a power cut.
@Suite("Steps that make files durable")
struct DurableStepsTests {
    private final class Notes: Sendable {
        private let all = Mutex<[String]>([])

        func add(_ note: String) { all.withLock { $0.append(note) } }
        var list: [String] { all.withLock { $0 } }
    }

    private func staged(_ path: String) throws -> ImageHandle.Staged {
        try FileSystem.makeFolders(FileSystem.folder(of: path))
        try FileSystem.write(Array("result".utf8), to: path)
        let chain = try Chain(parsing: "save format=jpeg", catalog: .builtIn)
        let plan = Planner.plan(outputs: [RecipeOutput(name: nil, chain: chain)], inBatch: false)
        return ImageHandle.Staged(picture: try #require(plan.results.first), path: path, result: nil)
    }

    private func step(_ staging: String, _ target: String) throws -> PublishIntent.Step {
        PublishIntent.Step(
            staging: staging, target: target, conflict: .number, file: try FileSystem.status(staging)?.identity)
    }

    /// Returns each synced folder below `folder`, with the names that it contains at that moment.
    private func synced(_ folder: String, during body: () async throws -> Void) async throws -> [String] {
        let notes = Notes()
        try await Syncs.watch(folder) { path in
            let names = (try? FileSystem.names(in: FileSystem.join(folder, path)).compactMap(\.self).sorted()) ?? []
            notes.add("\(path): \(names.joined(separator: " "))")
        } during: {
            try await body()
        }
        return notes.list
    }

    // MARK: - Results

    @Test("a result is durable before the publishing work, and its folder when that work is done")
    func result() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let (file, notes) = (try staged("\(folder)/1"), Notes())
            await Syncs.watch(folder) {
                notes.add("sync '\($0)'")
            } during: {
                await withCheckedContinuation { told in
                    OutboxLine().take(
                        OutboxLine.Turn(files: [file]) {
                            notes.add("work")
                            return [folder]
                        } done: { _ in
                            notes.add("done")
                            told.resume()
                        })
                }
            }
            #expect(notes.list == ["sync '1'", "work", "sync ''", "done"])
        }
    }

    @Test("a publication that is finished after a crash is durable when it is reported")
    func recovered() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let out = "\(folder)/out"
            let intent = PublishIntent(steps: [try step(staged("\(folder)/1").path, "\(out)/album/a.jpg")])
            try FileSystem.makeFolders("\(out)/album")
            let synced = try await synced(out) { _ = try Publisher().recover(intent) }
            #expect(synced == ["album: a.jpg"])
        }
    }

    @Test("results that are taken back are durably in staging, and no longer in the outbox")
    func takenBack() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let (out, staging) = ("\(folder)/out", "\(folder)/out/.staging/root")
            let step = try step(staged("\(staging)/1").path, "\(out)/album/a.jpg")
            for name in ["album/a.jpg", "b.jpg"] { try FileSystem.makeFolders(FileSystem.folder(of: "\(out)/\(name)")) }
            #expect(rename(step.staging, step.target) == 0)
            let synced = try await synced(out) { try Publisher().takeBack(PublishIntent(steps: [step])) }
            #expect(synced.sorted() == [".staging/root: 1", ": .staging"])
        }
    }

    @Test("an earlier result that returns to the outbox is durably there")
    func broughtBackResult() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let (out, staging) = ("\(folder)/out", "\(folder)/out/.staging/root")
            var step = PublishIntent.Step(
                staging: try staged("\(staging)/1.gone0").path, target: "\(out)/album/a.jpg", conflict: .skip)
            step.replaces = try FileSystem.status(step.staging)?.identity
            #expect(step.isWithdrawal)
            try FileSystem.makeFolders("\(out)/album")
            let synced = try await synced(out) { try Publisher().takeBack(PublishIntent(steps: [step])) }
            #expect(synced.contains("album: a.jpg"))
        }
    }

    @Test("a folder that was empty and removed after a result's name was chosen is durable when it is made again")
    func folderMadeAnew() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let (out, publisher) = ("\(folder)/out", Publisher())
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: .number, outbox: out,
                inbox: "/inbox")
            let publication = try publisher.choose([staged("\(folder)/1")], order: order, path: "album/a.png")
            #expect(rmdir("\(out)/album") == 0)
            let synced = try await synced(out) { _ = try publisher.publish(publication) { $1(true) } }
            #expect(synced == [": album"])
        }
    }

    // MARK: - Originals

    @Test("a claim is durable when the caller asks for that")
    func claimed() async throws {
        try await withTemporaryFolder { (inbox: String) async throws -> Void in
            try FileSystem.makeFolders("\(inbox)/album")
            try FileSystem.write(Array("dropped".utf8), to: "\(inbox)/album/a.png")
            let claims = try ClaimFolders(root: "r").begin(inbox) { false }
            let place = try claims.claim("album/a.png") { _ in false }
            let synced = try await synced(inbox) { try claims.sync([place]) }
            #expect(synced == [".pipelined/r/0/album: a.png"])
        }
    }

    @Test("an original is durably in its new place before the ledger records the move")
    func moved() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            let (moves, _) = fixture.moves()
            let synced = try await synced(fixture.places.cancelled) {
                #expect(moves.move([job], of: job.order.inbox).isEmpty)
            }
            #expect(synced.last == "r: 1.png")
        }
    }

    @Test("an original is durably removed before the ledger records that")
    func removed() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try fixture.ended(1, .done, at: "\(fixture.places.spool)/1/1.png")
            job.order.original = .delete
            #expect(fixture.insert([job]))
            let (moves, _) = fixture.moves()
            let synced = try await synced(fixture.places.spool) { [job] in
                #expect(moves.move([job], of: job.order.inbox).isEmpty)
            }
            #expect(synced == ["1: "])
            #expect(!fixture.exists("\(fixture.places.spool)/1"))
        }
    }

    @Test("the explanation of a failed download is durable, and so is its folder")
    func notDownloaded() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = fixture.job(1, .failed)
            (job.url, job.file, job.finished) = ("https://example.org/1.png", .none, 2000)
            #expect(fixture.insert([job]))
            let (moves, _) = fixture.moves()
            let synced = try await synced(fixture.places.failed) {
                #expect(moves.move([job], of: job.order.inbox).isEmpty)
            }
            #expect(synced.first == ": r" && synced.contains("r: 1.png.job1.error.txt"), "\(synced)")
        }
    }

    @Test("an original whose new place can't be made durable is lost for now, and does not hold up others")
    func notBroughtBack() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let jobs = try (1...2).map { id in
                var job = try fixture.ended(id, .failed, at: "\(fixture.places.failed)/r/\(id).png")
                job.disposed = true
                return job
            }
            #expect(fixture.insert(jobs))
            let originals = OriginalPlaces(
                ledger: fixture.ledger, places: fixture.places, claims: ClaimFolders(root: "r"))
            let (returns, spool, notes) = (Returns(originals, Publisher()), fixture.places.spool, Notes())
            let prepared = returns.prepare(jobs.map { Returns.Wanted(job: $0, order: $0.order) })
            let outcome = await Syncs.watch(spool) { path in
                guard path.hasPrefix("retry-") else { return }
                notes.add(path)
                // When the first original's folder is synced, move the other original's folder away.
                let other = path == "retry-1" ? "retry-2" : "retry-1"
                if notes.list.count == 1 { rename("\(spool)/\(other)", "\(spool)/away") }
            } during: {
                returns.takeBack(prepared)
            }
            let first = try #require(notes.list == ["retry-1"] ? 1 : notes.list == ["retry-2"] ? 2 : nil)
            #expect(outcome.brought.map(\.id) == [first] && outcome.lost.map(\.job) == [3 - first])
            #expect(returns.inboxes == [jobs[0].order.inbox])
        }
    }

    @Test("an original that is brought back is durably there before its job is queued")
    func broughtBack() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try fixture.ended(1, .failed, at: "\(fixture.places.failed)/r/1.png")
            job.disposed = true
            #expect(fixture.insert([job]))
            let originals = OriginalPlaces(
                ledger: fixture.ledger, places: fixture.places, claims: ClaimFolders(root: "r"))
            let returns = Returns(originals, Publisher())
            let synced = try await synced(fixture.places.spool) {
                let prepared = returns.prepare([Returns.Wanted(job: job, order: job.order)])
                #expect(returns.takeBack(prepared).brought.count == 1)
            }
            #expect(synced.last == "retry-1: 1.png")
        }
    }

    @Test("a copy in the spool that belongs to no job is durably in recovered/ before the start continues")
    func unknown() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            try fixture.write("picture", to: "\(fixture.places.spool)/some/added.png")
            let (configuration, originals) = Coordination.sync {
                (fixture.owners.configuration, fixture.owners.originals)
            }
            let recovery = Recovery(
                ledger: fixture.ledger, configuration: configuration, publisher: Publisher(),
                staging: try Staging(fixture.places), originals: originals)
            let synced = try await synced(fixture.places.recovered) { try recovery.recover() }
            #expect(synced.last == "added: added.png")
        }
    }
}
