import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("A transfer that breaks off")
struct ResumeTests {
    private static let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
    private static let half = 100_000

    /// Breaks the first answer off half-way; the next obeys Range, when `validator` is still the same.
    private static func server(_ header: [String: String], after: [String: String]? = nil) throws -> HTTPServer {
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
        "goes on where it was, when the server has given something to tell the file by",
        arguments: [["ETag": "\"one\""], ["Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"]])
    func goesOn(header: [String: String]) throws {
        let server = try Self.server(header)
        let worker = try FetchProcess()
        let file = try StagingFile()
        let failure = try worker.failure(at: server.url(), into: file)
        #expect(failure.kind == .transient)
        let resume = try #require(failure.resume)
        #expect(resume == FetchResume(offset: Int64(Self.half), validator: try #require(header.values.first)))
        #expect(try worker.fetch(server.url(), into: file, resume: resume).bytes == Int64(Self.body.count))
        #expect(try file.content == Self.body)
        #expect(server.seen.requests.last?.headers["range"] == "bytes=\(Self.half)-")
    }

    @Test(
        "keeps what there was while the server does not answer, or is busy; not when it has nothing to go on with",
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

    @Test("begins again when the file there is another by now")
    func changed() throws {
        let server = try Self.server(["ETag": "\"one\""], after: ["ETag": "\"two\""])
        let worker = try FetchProcess()
        let file = try StagingFile()
        let resume = try #require(try worker.failure(at: server.url(), into: file).resume)
        #expect(try worker.fetch(server.url(), into: file, resume: resume).bytes == Int64(Self.body.count))
        #expect(try file.content == Self.body)
    }

    @Test(
        "is not to be gone on with otherwise",
        arguments: [[:], ["ETag": "W/\"weak\""], ["ETag": "\"one\"", "Accept-Ranges": "none"], ["ETag": "bare"]])
    func not(header: [String: String]) throws {
        let server = try Self.server(header)
        let failure = try FetchProcess().failure(at: server.url())
        #expect(failure.kind == .transient)
        #expect(failure.resume == nil)
    }

    @Test("takes no part that it has not asked for", arguments: ["bytes 5-9/10", "bytes */10", "nonsense", ""])
    func wrongPart(range: String) throws {
        let server = try HTTPServer { _, connection in
            try connection.reply(206, ["Content-Range": range, "ETag": "\"one\""], Data("12345".utf8))
        }
        let worker = try FetchProcess()
        let file = try StagingFile(Data("abc".utf8))
        #expect(try worker.failure(at: server.url(), into: file).kind == .input)
        let resume = FetchResume(offset: 3, validator: "\"one\"")
        let failure = try worker.failure(at: server.url(), into: file, resume: resume)
        #expect(failure.kind == .transient)
        #expect(failure.resume == nil)
        #expect(try file.content == Data("abc".utf8))
    }

    @Test("MaxSize= counts what was there already")
    func maxSize() throws {
        let server = try Self.server(["ETag": "\"one\""])
        let worker = try FetchProcess()
        let file = try StagingFile()
        let resume = try #require(try worker.failure(at: server.url(), into: file).resume)
        let limits = FetchProcess.limits { $0.maxSize = Int64(Self.body.count) - 1 }
        #expect(try worker.failure(at: server.url(), limits, into: file, resume: resume).message.contains("MaxSize"))
    }
}
