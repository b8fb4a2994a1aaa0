import Foundation
import Glibc
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import InboxWatching

@Suite("An inbox")
struct InboxTests {
    /// Runs `body` with an inbox that has been scanned.
    private func withInbox(_ body: (_ inbox: Inbox, _ folder: String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream { break }
            try await body(inbox, folder)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    private func catchUp(_ inbox: Inbox) async {
        await withCheckedContinuation { continuation in
            inbox.catchUp(wanted: { true }) { _ in continuation.resume() }
        }
    }

    @Test("a call to catch up is answered even after its caller has given up")
    func late() async throws {
        try await withInbox { inbox, _ in
            let asked = Mutex(0)
            await withCheckedContinuation { continuation in
                inbox.catchUp(
                    cancelling: .all,
                    wanted: {
                        asked.withLock { $0 += 1 }
                        return false
                    }, done: { _ in continuation.resume() })
            }
            #expect(asked.withLock { $0 } == 1)
        }
    }

    @Test(
        "an inbox that can't be read reports that, and is read again soon, or at once on request",
        arguments: [false, true])
    func passing(isAsked: Bool) async throws {
        try await withTemporaryFolder { folder in
            try Data("picture".utf8).write(to: URL(fileURLWithPath: "\(folder)/a.png"))
            let sink = InboxSink(failures: 1)
            let inbox = sink.inbox(folder, pollInterval: .seconds(86400))
            inbox.begin(adopting: true)
            await withCheckedContinuation { continuation in inbox.afterwards { continuation.resume() } }
            #expect(inbox.report.isPassing && inbox.report.problem != nil && sink.taken == [])
            if isAsked { await catchUp(inbox) }
            for await _ in sink.isTaking.stream { break }
            #expect(!inbox.report.isPassing && inbox.report.problem == nil && sink.taken == ["a.png"])
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test("an inbox whose folder is missing has no temporary problem, so clients don't wait for it")
    func lasting() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder, pollInterval: .seconds(86400))
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream { break }
            try FileManager.default.removeItem(atPath: folder)
            while inbox.report.problem == nil { await Look.again() }
            #expect(!inbox.report.isPassing)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    @Test("an inbox stays closed when mounts change before its predecessor has ended")
    func mountsBefore() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            inbox.mountsChanged()
            await withCheckedContinuation { continuation in inbox.afterwards { continuation.resume() } }
            #expect(sink.asked == 0)
        }
    }

    @Test("an inbox that stops before its predecessor makes its successor wait, and passes on the predecessor's files")
    func stoppedBefore() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            let marks = Mutex<Set<FileSystem.Key>?>(nil)
            inbox.stop { remains in marks.withLock { $0 = remains.marked } }
            await withCheckedContinuation { continuation in inbox.afterwards { continuation.resume() } }
            #expect(marks.withLock { $0 } == nil)
            let remains = Inbox.HandOver(marked: [FileSystem.Key("\(folder)/a.png")])
            inbox.begin(adopting: false, with: remains)
            await withCheckedContinuation { continuation in inbox.afterwards { continuation.resume() } }
            #expect(marks.withLock { $0 } == remains.marked)
            #expect(sink.asked == 0)
        }
    }

    @Test("an inbox reports that its folder is missing, even if a mount change is reported first")
    func goneAtMount() async throws {
        try await withInbox { inbox, folder in
            let isMoved = DispatchSemaphore(value: 0)
            inbox.afterwards { isMoved.wait() }
            inbox.mountsChanged()
            try FileManager.default.removeItem(atPath: folder)
            let problem = Mutex<String?>(nil)
            await withCheckedContinuation { continuation in
                inbox.afterwards {
                    problem.withLock { $0 = inbox.report.problem }
                    continuation.resume()
                }
                isMoved.signal()
            }
            #expect(problem.withLock { $0 } == "the folder is gone")
        }
    }

    @Test(
        "a folder with more files than one look covers is taken as a whole, in name order",
        arguments: [1, 3])
    func room(_ room: Int) async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let names = (1...10).map { "album/\($0).png" } + ["album/deep/1.png", "album/deep/2.png"]
            try FileManager.default.createDirectory(
                atPath: "\(folder)/album/deep", withIntermediateDirectories: true)
            for name in names.reversed() { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
            let inbox = sink.inbox(folder, room: room)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream where sink.taken.count == names.count { break }
            #expect(sink.taken == names)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test("an inbox with a held recipe takes nothing, and its successor takes the arrived files and a crash's remains")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            for name in ["a.png", "b.png"] { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
            let claims = try ClaimFolders(root: "r").begin(folder) { true }
            _ = try claims.claim("a.png", isInWork: { _ in false })
            let held = sink.inbox(folder, refusal: "its recipe is wrong")
            held.begin(adopting: true)
            await withCheckedContinuation { continuation in held.afterwards { continuation.resume() } }
            held.hold(nil)
            await catchUp(held)
            #expect(sink.taken == [])
            #expect(held.report.whyNothing == "its recipe is wrong" && held.report.settling == 1)
            let inbox = sink.inbox(folder)
            held.stop { inbox.begin(adopting: false, with: $0) }
            for await _ in sink.isWatched.stream where sink.taken.count == 2 { break }
            #expect(sink.taken == ["a.png", "b.png"])
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test(
        "a call to catch up precedes files that are not taken yet, and covers them",
        arguments: [InboxSink.Depth.top, .folder])
    func busy(_ depth: InboxSink.Depth) async throws {
        try await withTemporaryFolder { folder in
            let count = 3 * Inbox.batch
            let place = depth == .top ? folder : "\(folder)/album"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            for number in 1...count { try Data().write(to: URL(fileURLWithPath: "\(place)/\(number).png")) }
            let gate = Gate()
            let sink = InboxSink(gate: gate)
            let inbox = sink.inbox(folder, room: 2 * Inbox.batch)
            inbox.begin(adopting: true)
            // The inbox now waits until the sink has recorded the first files.
            for await _ in sink.isTaking.stream { break }
            let covered = await withCheckedContinuation { continuation in
                inbox.catchUp(cancelling: .all, wanted: { true }) { continuation.resume(returning: $0) }
                gate.open()
            }
            for await _ in sink.isWatched.stream where sink.taken.count == count { break }
            #expect(covered == count - Inbox.batch)
            #expect(sink.cancelled == covered)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test("a call to catch up waits for the predecessor to end, and covers its remaining files")
    func successor() async throws {
        try await withTemporaryFolder { folder in
            try Data().write(to: URL(fileURLWithPath: "\(folder)/a.png"))
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            let covered = await withCheckedContinuation { continuation in
                inbox.catchUp(cancelling: .all, wanted: { true }) { continuation.resume(returning: $0) }
                inbox.begin(adopting: false)
            }
            for await _ in sink.isWatched.stream where sink.taken.count == 1 { break }
            #expect(covered == 1 && sink.cancelled == 1)
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test(
        "a file that changes while it is claimed is put back, settles again, and still gets cancelled"
    )
    func writtenMeanwhile() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream { break }
            try await inbox.takeWhatGrows("\(folder)/a.png")
            for await _ in sink.isTaking.stream { break }
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
            #expect(sink.taken == ["a.png"] && sink.cancelled == 1)
            #expect(try FileSystem.status(#require(sink.sources.first))?.size == 9)
        }
    }

    @Test("an inbox checks the claims that its predecessor was not sure of, and takes the successful ones")
    func unsure() async throws {
        try await withTemporaryFolder { folder in
            let sources = ["a", "b"].map { "\(folder)/.pipelined/r/0/\($0).png" }
            try FileSystem.makeFolders(FileSystem.folder(of: sources[0]), mode: 0o700)
            try Data().write(to: URL(fileURLWithPath: sources[0]))
            let status = try #require(try FileSystem.status(sources[0]))
            var remains = Inbox.HandOver()
            for (path, source) in zip(["a.png", "b.png"], sources) {
                remains.unsure[source] = UnsureClaim(path: path, before: status, cancelled: true)
            }
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            inbox.begin(adopting: false, with: remains)
            for await _ in sink.isTaking.stream { break }
            #expect(sink.taken == ["a.png"] && sink.cancelled == 1)
            for await _ in sink.isWatched.stream { break }
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test("an inbox polls when the kernel allows no more watches, and says why")
    func tooManyWatches() async throws {
        try await withTemporaryFolder { folder in
            let sink = InboxSink()
            let inbox = sink.inbox(folder)
            inbox.begin(adopting: true)
            for await _ in sink.isWatched.stream { break }
            await inbox.fallBack(SystemError("inotify_add_watch", folder, code: ENOSPC))
            #expect(inbox.report.watch.hasPrefix("poll ("))
            try Data().write(to: URL(fileURLWithPath: "\(folder)/a.png"))
            for await _ in sink.isTaking.stream { break }
            #expect(sink.taken == ["a.png"])
            await withCheckedContinuation { continuation in inbox.stop { _ in continuation.resume() } }
        }
    }

    @Test("an inbox reports the latest reason for ignoring a file")
    func reason() async throws {
        try await withInbox { inbox, folder in
            let file = "\(folder)/a.png"
            #expect(symlink("/nowhere", file) == 0)
            await catchUp(inbox)
            let former = inbox.report.ignoredFiles.map(\.reason)
            #expect(mkfifo(file + ".new", 0o600) == 0 && rename(file + ".new", file) == 0)
            await catchUp(inbox)
            let ignored = inbox.report.ignoredFiles.filter { $0.path == file }
            #expect(former.count == 1 && ignored.count == 1 && ignored.map(\.reason) != former)
        }
    }

    @Test("an inbox forgets its log messages about a file once the file is gone")
    func told() async throws {
        try await withInbox { inbox, folder in
            let file = URL(fileURLWithPath: folder).appendingPathComponent(".part")
            try Data().write(to: file)
            await inbox.logOnce("\(file.path): it can't be read", of: file.path)
            await catchUp(inbox)
            #expect(await inbox.logged.count == 1)
            try FileManager.default.removeItem(at: file)
            await catchUp(inbox)
            #expect(await inbox.logged.isEmpty)
        }
    }
}

extension Inbox {
    /// Hands the inbox a file with an outdated status. The file has grown since the status was read.
    fileprivate func takeWhatGrows(_ path: String) throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path))
        let status = try #require(try FileSystem.status(path))
        try Data("old + new".utf8).write(to: URL(fileURLWithPath: path))
        take(path, status, cancelled: true)
    }
}
