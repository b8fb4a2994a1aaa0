import DaemonRuntime
import Foundation
import Glibc
import OperationGraph
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing
import WorkerPools
import WorkerProtocol

@testable import JobFlow
@testable import PictureFiles

@Suite("A DownloadOperation")
struct DownloadOperationTests {
    private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

    /// The objects that a download operation needs, and a folder for its downloads.
    private final class Bench: Sendable {
        let folder = NSTemporaryDirectory() + "/pipelined-test-\(UUID().uuidString)"
        let pool: FetchPool
        let queue = GatedQueue("download", limit: .count(8), automatic: { 8 })

        init(_ program: String = Places.programFolder + "/pipelined-fetch", patience: Duration = .seconds(30)) {
            pool = Coordination.sync { FetchPool(program: program, patience: patience) }
        }

        func path(_ name: String) -> String { "\(folder)/\(name)" }

        func operation(
            _ url: String, into name: String = "file",
            _ limits: DownloadLimits = DownloadOperationTests.limits(),
            goingOn earlier: FetchResume? = nil,
            record: @escaping @Sendable (FetchResume?, @escaping @Sendable () -> Void) -> Void = { $1() }
        ) throws -> DownloadOperation {
            try #require(
                DownloadOperation(
                    string: url, into: path(name), goingOn: earlier, limits: limits, pool: pool, record: record))
        }

        /// Runs the operations, and waits until all of them have finished.
        func run(_ operations: DownloadOperation...) async { await run(operations) }

        func run(_ operations: [DownloadOperation]) async {
            let group = DispatchGroup()
            for operation in operations {
                group.enter()
                operation.observe { _, state in if state.isFinal { group.leave() } }
            }
            for operation in operations { queue.add(operation) }
            await withCheckedContinuation { continuation in
                group.notify(queue: .global()) { continuation.resume() }
            }
        }

        var leftovers: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

        /// Returns the fetch workers that this process has started.
        static func workers() throws -> [Int32] { try Children.of(getpid(), named: "pipelined-fetch") }

        deinit {
            pool.stop {}
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    private static func limits(_ change: (inout DownloadLimits) -> Void = { _ in })
        -> DownloadLimits
    {
        var limits = DownloadLimits()
        limits.transfer.allowPrivateHosts = ["127.0.0.1"]
        change(&limits)
        return limits
    }

    @Test("an operation can be made from a URL or from a string")
    func made() throws {
        let bench = Bench()
        for string in ["https://example.com/a.jpg", "HTTP://example.com"] {
            #expect(try bench.operation(string).url == WebAddress(string))
        }
        for string in [
            "", "a.jpg", "ftp://example.com/a", "file:///etc/passwd", "https://", "https:///a", "http://a b",
        ] {
            #expect(
                DownloadOperation(string: string, into: "/nowhere", pool: bench.pool) == nil)
        }
    }

    @Test("an operation hands the picture to the next one: the file, and the server's name for it")
    func provides() async throws {
        let server = try HTTPServer { _, connection in
            try connection.reply(200, ["Content-Disposition": "attachment; filename=../ä.jpg"], Self.body)
        }
        let bench = Bench()
        let operation = try bench.operation(server.url("/b.png"))
        await bench.run(operation)
        #expect(operation.state == .finished)
        #expect(operation.image?.source == bench.path("file"))
        #expect(operation.image?.name == "ä.jpg")
        #expect(operation.figures.done == Int64(Self.body.count))
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("file"))) == Self.body)
        #expect(operation.response?.status == 200)
    }

    @Test("an operation that fails or is cancelled, even before it begins, hands nothing on and leaves nothing behind")
    func nothing() async throws {
        let server = try HTTPServer { request, connection in
            if request.path == "/held" { return connection.waitForClose() }
            try connection.reply(404, [:], Self.body)
        }
        let bench = Bench()
        let lost = try bench.operation(server.url("/lost"), into: "lost")
        await bench.run(lost)
        let early = try bench.operation(server.url("/held"), into: "early")
        early.cancel()
        let late = try bench.operation(server.url("/held"), into: "late")
        async let end: Void = bench.run(late)
        await server.until { !$0.requests("/held").isEmpty }
        late.cancel()
        await end
        let all = [lost, early, late]
        #expect(all.map(\.state) == [.failed, .cancelled, .cancelled])
        #expect(all.map { $0.failure?.message } == ["the server answers 404 (not found)", nil, nil])
        #expect(all.allSatisfy { $0.image == nil && $0.response == nil })
        #expect(bench.leftovers == [])
    }

    @Test("an operation resumes where the server broke off, Retries= times; then the partial file stays for another")
    func resumes() async throws {
        let server = try HTTPServer { request, connection in
            // Each response contains at most 50,000 bytes.
            let start = request.headers["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let header = ["ETag": "\"one\"", "Content-Length": "\(Self.body.count - start)"]
            let range = ["Content-Range": "bytes \(start)-\(Self.body.count - 1)/\(Self.body.count)"]
            try connection.begin(start == 0 ? 200 : 206, header.merging(range) { $1 })
            try connection.write(Self.body[start..<min(start + 50_000, Self.body.count)])
            connection.close()
        }
        let bench = Bench()
        let patient = try bench.operation(server.url())
        await bench.run(patient)
        #expect(patient.state == .finished)
        #expect(patient.tries == 6)
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("file"))) == Self.body)
        let hasty = try bench.operation(server.url(), into: "hasty", Self.limits { $0.retries = 4 })
        await bench.run(hasty)
        #expect(hasty.state == .failed)
        #expect(hasty.tries == 5)
        #expect(hasty.partial == FetchResume(offset: 250_000, validator: "\"one\"", total: Int64(Self.body.count)))
        #expect(bench.leftovers == ["file", "hasty"])
        let last = try bench.operation(server.url(), into: "hasty", goingOn: hasty.partial)
        await bench.run(last)
        #expect((last.state, last.tries, last.partial) == (.finished, 1, nil))
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("hasty"))) == Self.body)
    }

    @Test("an operation starts again for a changed file, once the ledger has recorded that the partial file is useless")
    func changed() async throws {
        let other = Data(Self.body.reversed())
        let server = try HTTPServer { request, connection in
            // The server ignores If-Range, and sends the remaining bytes of a different file.
            guard request.headers["range"] == nil else {
                return try connection.reply(
                    206,
                    ["ETag": "\"two\"", "Content-Range": "bytes 1000-\(other.count - 1)/\(other.count)"],
                    other.dropFirst(1000))
            }
            try connection.reply(200, ["ETag": "\"two\""], other)
        }
        let bench = Bench()
        try FileManager.default.createDirectory(atPath: bench.folder, withIntermediateDirectories: true)
        let file = URL(fileURLWithPath: bench.path("file"))
        try Self.body.prefix(1000).write(to: file)
        let recorded = Mutex<[FetchResume?]>([])
        let operation = try bench.operation(
            server.url(), goingOn: FetchResume(offset: 1000, validator: "\"one\"", total: Int64(Self.body.count))
        ) { part, done in
            recorded.withLock { $0.append(part) }
            #expect((try? Data(contentsOf: file)) == Self.body.prefix(1000))
            done()
        }
        await bench.run(operation)
        #expect((operation.state, operation.tries, operation.partial) == (.finished, 2, nil))
        #expect(recorded.withLock { $0 } == [nil])
        #expect(try Data(contentsOf: file) == other)
    }

    @Test("an operation starts again when its partial file has vanished, once the ledger has recorded that")
    func shorter() async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, ["ETag": "\"one\""], Self.body) }
        let bench = Bench()
        try FileManager.default.createDirectory(atPath: bench.folder, withIntermediateDirectories: true)
        try Self.body.prefix(999).write(to: URL(fileURLWithPath: bench.path("file")))
        let recorded = Mutex<[FetchResume?]>([])
        let operation = try bench.operation(
            server.url(), goingOn: FetchResume(offset: 1000, validator: "\"one\"", total: Int64(Self.body.count))
        ) { part, done in
            recorded.withLock { $0.append(part) }
            done()
        }
        await bench.run(operation)
        #expect(operation.state == .finished)
        #expect(recorded.withLock { $0 } == [nil])
        #expect(server.seen.requests.map { $0.headers["range"] } == [nil])
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("file"))) == Self.body)
    }

    /// Returns a server that sends the first 100,000 bytes and then stalls. If a client requests the remaining bytes,
    /// the server sends them.
    private static func pausingServer() throws -> HTTPServer {
        try HTTPServer { request, connection in
            guard request.headers["range"] != nil else {
                try connection.begin(200, ["Content-Length": "\(body.count)", "ETag": "\"one\""])
                try connection.write(body.prefix(100_000))
                return connection.waitForClose()
            }
            try connection.reply(
                206,
                [
                    "Content-Range": "bytes 100000-\(body.count - 1)/\(body.count)", "ETag": "\"one\"",
                ],
                body.dropFirst(100_000))
        }
    }

    @Test("an operation that goes back to the queue keeps its partial file, and another operation resumes there")
    func givenBack() async throws {
        let server = try Self.pausingServer()
        let bench = Bench()
        let first = try bench.operation(server.url())
        async let end: Void = bench.run(first)
        while first.figures.done < 100_000 { await Look.again() }
        first.keepPart()
        first.cancel()
        await end
        #expect(first.state == .cancelled)
        #expect(
            first.partial == FetchResume(offset: 100_000, validator: "\"one\"", total: Int64(Self.body.count)))
        let second = try bench.operation(server.url(), goingOn: first.partial)
        await bench.run(second)
        #expect(second.state == .finished)
        #expect(server.seen.requests.last?.headers["range"] == "bytes=100000-")
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("file"))) == Self.body)
    }

    @Test("an operation resumes where it was when the fetch worker dies")
    func goesOnInNextWorker() async throws {
        let server = try Self.pausingServer()
        let bench = Bench()
        let operation = try bench.operation(server.url())
        async let end: Void = bench.run(operation)
        while operation.figures.done < 100_000 { await Look.again() }
        for worker in try Bench.workers() { kill(worker, SIGKILL) }
        await end
        #expect(operation.state == .finished)
        #expect(server.seen.requests.map { $0.headers["range"] } == [nil, "bytes=100000-"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: bench.path("file"))) == Self.body)
    }

    @Test("a cancelled operation closes its connection, and leaves no partial file")
    func cancel() async throws {
        let server = try HTTPServer { _, connection in
            try connection.begin(200, ["Content-Length": "1000000"])
            try connection.write(Self.body)
            connection.waitForClose()
        }
        let bench = Bench()
        let operations = try (0..<5).map {
            try bench.operation(server.url("/\($0)"), into: "\($0)", Self.limits { $0.transfer.perHost = 5 })
        }
        async let end: Void = bench.run(operations)
        await server.until { $0.requests.count == 5 }
        for operation in operations { operation.cancel() }
        await end
        #expect(operations.allSatisfy { $0.state == .cancelled })
        await server.until { $0.open == 0 }
        #expect(bench.leftovers == [])
    }

    @Test("a dead worker's operations are retried in a new process; a download that kills two workers fails alone")
    func workerDies() async throws {
        let gate = Gate()
        let server = try HTTPServer { request, connection in
            if !gate.isOpen || request.path == "/deadly" { return connection.waitForClose() }
            try connection.reply(200, [:], Self.body)
        }
        let bench = Bench()
        let names = ["a", "b", "deadly", "c"]
        let operations = try names.map { try bench.operation(server.url("/\($0)"), into: $0) }
        async let end: Void = bench.run(operations)
        await server.until { $0.requests.count == 4 }
        gate.open()
        let first = try Bench.workers()
        for worker in first { kill(worker, SIGKILL) }
        // The retries now run one at a time, so it is clear which download killed the worker.
        await server.until { $0.requests("/deadly").count == 2 }
        for worker in try Bench.workers() where !first.contains(worker) { kill(worker, SIGSTOP) }
        await end
        #expect(operations.map(\.state) == [.finished, .finished, .failed, .finished])
        let failure = try #require(operations[2].failure)
        #expect(failure.message.hasPrefix("took the fetch worker down twice; the second was stopped by signal"))
        #expect(bench.leftovers.sorted() == ["a", "b", "c"])
    }

    /// A worker that answers each fetch immediately, except that it never reports on URLs ending in `mute`.
    private static let muteWorker = """
        #!/usr/bin/python3
        import json, os, socket
        channel = socket.socket(fileno=3)
        def say(message): channel.send(json.dumps(message).encode())
        say({"hello": {"version": "", "missing": []}})
        while True:
            message, descriptors, _, _ = socket.recv_fds(channel, 131072, 1)
            if not message: break
            order = json.loads(message).get("fetch")
            if not order: continue
            request = order["_0"]
            if not request["url"].endswith("mute"):
                os.write(descriptors[0], b"picture")
                file = {"status": 200, "url": request["url"], "bytes": 7}
                say({"done": {"id": request["id"], "_1": file}})
            for descriptor in descriptors: os.close(descriptor)
        """

    @Test("an operation fails when the fetch worker is silent about it twice; the other downloads go on")
    func mute() async throws {
        try await withTemporaryFolder { folder in
            let program = "\(folder)/mute"
            try Data(Self.muteWorker.utf8).write(to: URL(fileURLWithPath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let bench = Bench(program, patience: .milliseconds(300))
            let limits = Self.limits {
                ($0.transfer.connectMilliseconds, $0.transfer.stallMilliseconds) = (100, 100)
            }
            // The other downloads have a longer timeout, so that a slow machine is not mistaken for a silent worker.
            let operations = try ["a", "mute", "b"].map {
                try bench.operation("http://h/\($0)", into: $0, $0 == "mute" ? limits : Self.limits())
            }
            await bench.run(operations)
            #expect(operations.map(\.state) == [.finished, .failed, .finished])
            let failure = try #require(operations[1].failure)
            #expect(failure.message == "the fetch worker reported nothing about it for 500ms, twice")
            #expect(failure.class == .transient)
        }
    }

    @Test("an operation distinguishes file errors from network errors")
    func noFile() async throws {
        let bench = Bench()
        try FileManager.default.createDirectory(atPath: bench.path("taken"), withIntermediateDirectories: true)
        let operation = try bench.operation("http://127.0.0.1:1/", into: "taken")
        await bench.run(operation)
        #expect(operation.failure?.message.hasPrefix("making the file to download into: ") == true)
    }
}
