import Foundation
import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerPools

@testable import PictureFiles

@Suite("Names that recipes choose")
struct ResultNameTests {
    private func order(_ outbox: String, _ conflict: ConflictPolicy = .number) -> WorkOrder {
        WorkOrder(
            recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: conflict, outbox: outbox,
            inbox: "/inbox")
    }

    /// Returns the staged results of outputs with these `Name=` templates, as workers report them.
    private func staged(
        in folder: String, _ outputs: KeyValuePairs<String, String?>, hash: String? = nil, width: Int = 10
    ) throws -> [ImageHandle.Staged] {
        let outputs = try outputs.map { name, naming in
            RecipeOutput(
                name: name.isEmpty ? nil : name, chain: try Chain(parsing: "save format=png", catalog: .builtIn),
                naming: try naming.map { try NameTemplate($0) })
        }
        return try Planner.plan(outputs: outputs, inBatch: false).results.map { picture in
            let path = "\(folder)/\(UUID().uuidString)"
            try FileSystem.write(Array("result".utf8), to: path)
            return ImageHandle.Staged(
                picture: picture, path: path,
                result: RenderedOutput(format: "png", width: width, height: 20, bands: 3, bytes: 6, hash: hash))
        }
    }

    @Test("results in flight never share a number, and all results of one picture do")
    func counters() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let out = "\(folder)/out"
            func choose(_ conflict: ConflictPolicy) throws -> Publisher.Publication {
                let files = try staged(
                    in: folder, ["": "a/{counter:3}", "b": "b/{counter:3}-{output}", "c": "{stem}-{output}"])
                return try publisher.choose(files, order: order(out, conflict), path: "x.jpg")
            }
            func names(_ publication: Publisher.Publication) -> [String] {
                publication.intent.steps.map { FileSystem.relative($0.target, to: out) }
            }
            let first = try choose(.number)
            #expect(names(first) == ["a/001.png", "b/001-b.png", "x-c.png"])
            #expect(try names(choose(.number)) == ["a/002.png", "b/002-b.png", "x-c-1.png"])
            let third = try choose(.replace)
            #expect(names(third) == ["a/003.png", "b/003-b.png", "x-c.png"])
            // A numbered result replaces nothing, even if another program takes its name first.
            #expect(third.intent.steps.map(\.conflict) == [.number, .number, .replace])
            publisher.release(first)
            #expect(try names(choose(.skip)) == ["a/001.png", "b/001-b.png", "x-c.png"])
        }
    }

    @Test("an output named like its format gets no suffix if no other output lacks Name=")
    func besideOthers() throws {
        try withTemporaryFolder { folder in
            let files = try staged(in: folder, ["": "x/{stem}", "png": nil])
            let publication = try Publisher().choose(files, order: order("\(folder)/out"), path: "a/y.jpg")
            let names = publication.intent.steps.map { FileSystem.relative($0.target, to: "\(folder)/out") }
            #expect(names == ["x/y.png", "a/y.png"])
        }
    }

    @Test("a long series of numbers continues at its end")
    func longRow() throws {
        try withTemporaryFolder { folder in
            try FileSystem.makeFolders("\(folder)/out")
            for number in 1...70 { try FileSystem.write([], to: "\(folder)/out/\(number).png") }
            let publication = try Publisher().choose(
                staged(in: folder, ["": "{counter}"]), order: order("\(folder)/out"), path: "x.jpg")
            #expect(publication.intent.steps.map(\.target) == ["\(folder)/out/71.png"])
        }
    }

    @Test("two results with one name are refused, and neither is published", arguments: ConflictPolicy.allCases)
    func twins(conflict: ConflictPolicy) throws {
        try withTemporaryFolder { folder in
            let files = try staged(in: folder, ["": "{stem}-{width}", "b": "{stem}-{width}"])
            let failure = try #require(throws: JobFailure.self) {
                try Publisher().choose(files, order: order("\(folder)/out", conflict), path: "x.jpg")
            }
            #expect(failure.message == "the result of [Output] and the result 'b' would both be x-10.png")
            #expect(failure.advice?.contains("{output}") == true && failure.class == .input)
            #expect(try !FileSystem.exists("\(folder)/out"))
        }
    }

    @Test(
        "a worker can't choose a path: an invalid hash fails the job",
        arguments: [nil, "", "../../../x", String(repeating: "A", count: 64)])
    func lies(hash: String?) throws {
        try withTemporaryFolder { folder in
            let files = try staged(in: folder, ["": "{stem}-{hash:64}"], hash: hash)
            #expect(throws: JobFailure.self) {
                try Publisher().choose(files, order: order("\(folder)/out"), path: "x.jpg")
            }
        }
    }

    @Test("a name whose folder can't be made leaves nothing reserved")
    func noFolder() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            try FileSystem.makeFolders("\(folder)/out")
            try FileSystem.write([], to: "\(folder)/out/a")
            let files = try staged(in: folder, ["": "a/b/{counter}"])
            #expect(throws: SystemError.self) {
                try publisher.choose(files, order: order("\(folder)/out"), path: "x.jpg")
            }
            try FileSystem.remove("\(folder)/out/a")
            let publication = try publisher.choose(files, order: order("\(folder)/out"), path: "x.jpg")
            #expect(publication.intent.steps.map(\.target) == ["\(folder)/out/a/b/1.png"])
        }
    }
}
