import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("An interrupted transfer")
struct ResumeTests {
    private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
    private static let half = 100_000
    private static let today = "Thu, 22 Oct 2015 07:28:00 GMT"
    private static let yesterday = "Wed, 21 Oct 2015 07:28:00 GMT"

    /// Returns a server that breaks off its first response half-way. Later responses have the header `after`. A request
    /// with a Range header gets the rest of the body if its If-Range matches `after`. Any other request with a Range
    /// header gets the whole body.
    private static func server(_ header: [String: String], after: [String: String]? = nil) throws -> HTTPServer {
        let header = ["Date": today].merging(header) { $1 }
        let after = after ?? header
        return try HTTPServer { request, connection in
            guard let range = request.headers["range"] else {
                try connection.begin(200, header.merging(["Content-Length": "\(body.count)"]) { $1 })
                try connection.write(body[..<half])
                return connection.close()
            }
            let start = Int(range.split(separator: "=")[1].dropLast()) ?? 0
            let validator = request.headers["if-range"]
            guard validator == after["ETag"] || validator == after["Last-Modified"] else {
                return try connection.reply(200, after, body)
            }
            try connection.reply(
                206, after.merging(["Content-Range": "bytes \(start)-\(body.count - 1)/\(body.count)"]) { $1 },
                body[start...])
        }
    }

    @Test(
        "a transfer resumes where it was if the server identifies the file",
        arguments: [
            ["ETag": "\"one\""], ["Last-Modified": yesterday], ["ETag": "\"one\"", "Last-Modified": yesterday],
        ])
    func goesOn(header: [String: String]) throws {
        let server = try Self.server(header)
        let worker = try FetchProcess()
        let file = try StagingFile()
        let failure = try worker.failure(at: server.url(), into: file)
        #expect(failure.kind == .transient)
        let resume = try #require(failure.resume)
        #expect(
            resume
                == FetchResume(
                    offset: Int64(Self.half), validator: try #require(header["ETag"] ?? header["Last-Modified"]),
                    modified: header["Last-Modified"], total: Int64(Self.body.count)))
        #expect(try worker.fetch(server.url(), into: file, resume: resume).bytes == Int64(Self.body.count))
        #expect(try file.content == Self.body)
        #expect(server.seen.requests.last?.headers["range"] == "bytes=\(Self.half)-")
    }

    @Test(
        "a partial file is kept while the server is silent or busy, but not when it can't be used",
        arguments: [(503, true), (404, true), (416, false), (200, false)])
    func kept(status: Int, isKept: Bool) throws {
        let server = try HTTPServer { _, connection in
            try connection.begin(status, ["Content-Length": "10"])
            if status == 200 { try connection.write("other") }
            connection.close()
        }
        let worker = try FetchProcess()
        let resume = FetchResume(offset: 5, validator: "\"one\"")
        let file = try StagingFile(Data("first".utf8))
        let failure = try worker.failure(at: server.url(), into: file, resume: resume)
        #expect(failure.kept == (isKept ? resume : nil))
        if isKept { #expect(try file.content == Data("first".utf8)) }
        #expect(try worker.failure(at: "http://127.0.0.1:1/", into: file, resume: resume).kept == resume)
    }

    /// Responses that the worker must reject when it resumes a transfer with `FetchResume(offset: 3, validator:
    /// "\"one\"", total: 8)`.
    private static let otherFiles: [[String: String]] = [
        ["Content-Range": "bytes 3-7/8", "ETag": "\"two\""],
        ["Content-Range": "bytes 3-7/8", "ETag": "W/\"one\""],
        ["Content-Range": "bytes 3-7/8"],
        ["Content-Range": "bytes 3-7/9", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-7/8", "ETag": "\"one\"", "Last-Modified": today],
        ["Content-Range": "bytes 4-8/9", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-6/8", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-8/8", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-7/8", "ETag": "\"one\"", "Content-Encoding": "gzip"],
        ["Content-Range": "bytes 3-7/8", "ETag": "\"one\"", "Content-Type": "multipart/byteranges; boundary=a"],
        ["Content-Type": "multipart/byteranges; boundary=a", "ETag": "\"one\""],
        ["Content-Range": "bytes */8", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-/8", "ETag": "\"one\""],
        ["Content-Range": "pages 3-7/8", "ETag": "\"one\""],
        ["Content-Range": "bytes 7-3/8", "ETag": "\"one\""],
        ["Content-Range": "bytes -3-7/8", "ETag": "\"one\""],
        ["Content-Range": "bytes 3-99999999999999999999/8", "ETag": "\"one\""],
        ["ETag": "\"one\""],
    ]

    @Test("a part that may belong to another file is rejected, and the partial file stays", arguments: otherFiles)
    func otherFile(header: [String: String]) throws {
        let server = try HTTPServer { _, connection in try connection.reply(206, header, Data("45678".utf8)) }
        let worker = try FetchProcess()
        let file = try StagingFile(Data("123".utf8))
        let resume = FetchResume(offset: 3, validator: "\"one\"", modified: Self.yesterday, total: 8)
        let failure = try worker.failure(at: server.url(), into: file, resume: resume)
        #expect((failure.kind, failure.resume, failure.kept) == (.changed, nil, nil))
        #expect(try file.content == Data("123".utf8))
    }

    @Test(
        "a rest that the server proves to belong to the same file is accepted",
        arguments: [
            ["Content-Range": "bytes 3-7/8", "ETag": "\"one\""],
            ["Content-Range": "Bytes  3-7/8", "ETag": "\"one\"", "Last-Modified": yesterday],
            ["Content-Range": "bytes 3-7/*", "ETag": "\"one\""],
        ])
    func sameFile(header: [String: String]) throws {
        let server = try HTTPServer { _, connection in try connection.reply(206, header, Data("45678".utf8)) }
        let worker = try FetchProcess()
        let file = try StagingFile(Data("123".utf8))
        let resume = FetchResume(offset: 3, validator: "\"one\"", modified: Self.yesterday, total: 8)
        #expect(try worker.fetch(server.url(), into: file, resume: resume).bytes == 8)
        #expect(try file.content == Data("12345678".utf8))
    }

    @Test("a part that ends early is not a whole file, and neither is one of unknown total")
    func shortPart() throws {
        let server = try HTTPServer { request, connection in
            let range = request.path == "/short" ? "bytes 3-5/8" : "bytes 3-5/*"
            try connection.reply(206, ["Content-Range": range, "ETag": "\"one\""], Data("456".utf8))
        }
        let worker = try FetchProcess()
        let file = try StagingFile(Data("123".utf8))
        let resume = FetchResume(offset: 3, validator: "\"one\"")
        let unknown = try worker.failure(at: server.url("/unknown"), into: file, resume: resume)
        #expect(unknown.kind == .changed)
        #expect(try file.content == Data("123".utf8))
        let short = try worker.failure(at: server.url("/short"), into: file, resume: resume)
        #expect(short.kind == .transient)
        #expect(short.resume == FetchResume(offset: 6, validator: "\"one\"", total: 8))
        #expect(try file.content == Data("123456".utf8))
    }

    @Test("a body that is longer than its announced part is rejected")
    func longPart() throws {
        let server = try HTTPServer { _, connection in
            try connection.begin(
                206, ["Content-Range": "bytes 3-7/8", "ETag": "\"one\"", "Transfer-Encoding": "chunked"])
            try connection.write("8\r\n45678901\r\n0\r\n\r\n")
        }
        let resume = FetchResume(offset: 3, validator: "\"one\"", total: 8)
        let failure = try FetchProcess().failure(
            at: server.url(), into: StagingFile(Data("123".utf8)), resume: resume)
        #expect((failure.kind, failure.kept) == (.changed, nil))
    }

    @Test("an interrupted transfer is distinguished from a changed file")
    func changed() throws {
        let server = try Self.server(["ETag": "\"one\""], after: ["ETag": "\"two\""])
        let worker = try FetchProcess()
        let file = try StagingFile()
        let resume = try #require(try worker.failure(at: server.url(), into: file).resume)
        let failure = try worker.failure(at: server.url(), into: file, resume: resume)
        #expect((failure.kind, failure.kept) == (.changed, nil))
        #expect(try file.content == Self.body[..<Self.half])
    }

    @Test("a transfer reports how much can be kept before it is cancelled")
    func cancelled() throws {
        let server = try HTTPServer { _, connection in
            try connection.begin(200, ["Content-Length": "\(Self.body.count)", "ETag": "\"one\""])
            try connection.write(Self.body[..<Self.half])
            connection.waitForClose()
        }
        let worker = try FetchProcess()
        let id = try worker.begin(server.url(), into: StagingFile())
        try worker.until(id, has: Int64(Self.half))
        try worker.cancel(id)
        guard case .cancelled = try worker.end(id) else { throw Unexpected("it was not cancelled") }
        #expect(
            worker.kept[id]
                == FetchResume(offset: Int64(Self.half), validator: "\"one\"", total: Int64(Self.body.count)))
    }

    @Test(
        "transfers without reliable identification are not resumed",
        arguments: [
            [:], ["ETag": "W/\"weak\""], ["ETag": "\"one\"", "Accept-Ranges": "none"], ["ETag": "bare"],
            ["Last-Modified": today], ["Last-Modified": yesterday, "Date": "nonsense"],
            ["Last-Modified": yesterday, "ETag": "W/\"weak\""], ["Last-Modified": yesterday, "ETag": "\"\u{e4}\""],
        ])
    func not(header: [String: String]) throws {
        let server = try Self.server(header)
        let failure = try FetchProcess().failure(at: server.url())
        #expect(failure.kind == .transient)
        #expect(failure.resume == nil)
    }

    @Test("a part that was not requested is rejected", arguments: ["bytes 0-4/5", "bytes 5-9/10", "bytes */10", ""])
    func wrongPart(range: String) throws {
        let server = try HTTPServer { _, connection in
            try connection.reply(206, ["Content-Range": range, "ETag": "\"one\""], Data("12345".utf8))
        }
        let file = try StagingFile(Data("abc".utf8))
        #expect(try FetchProcess().failure(at: server.url(), into: file).kind == .input)
        #expect(try file.content == Data("abc".utf8))
    }

    @Test("MaxSize= includes the bytes that were received earlier")
    func maxSize() throws {
        let server = try Self.server(["ETag": "\"one\""])
        let worker = try FetchProcess()
        let file = try StagingFile()
        let resume = try #require(try worker.failure(at: server.url(), into: file).resume)
        let limits = FetchProcess.limits { $0.maxSize = Int64(Self.body.count) - 1 }
        #expect(try worker.failure(at: server.url(), limits, into: file, resume: resume).message.contains("MaxSize"))
    }
}
