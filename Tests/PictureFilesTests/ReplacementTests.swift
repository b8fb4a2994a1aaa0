import Foundation
import Glibc
import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import PictureFiles

@Suite("Results that replace earlier ones")
struct ReplacementTests {
    /// An outbox with the results of an earlier job, and new results in staging.
    private struct Outbox {
        let folder: String
        let publisher = Publisher()

        func write(_ text: String, to name: String) throws {
            let path = "\(folder)/\(name)"
            try FileSystem.makeFolders(FileSystem.folder(of: path))
            try FileSystem.write(Array(text.utf8), to: path)
        }

        func text(_ name: String) throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }

        var names: [String] { get throws { try FileSystem.names(in: "\(folder)/out").compactMap(\.self).sorted() } }

        func former(_ names: String...) throws -> [PublishedFile] {
            try names.map { name in
                try write("old \(name)", to: "out/\(name)")
                let path = "\(folder)/out/\(name)"
                return PublishedFile(path: path, file: try FileSystem.status(path)?.identity)
            }
        }

        func staged(
            _ format: String, _ name: String? = nil, naming: NameTemplate? = nil
        ) throws -> ImageHandle.Staged {
            let chain = try Chain(parsing: "save format=\(format)", catalog: .builtIn)
            let output = RecipeOutput(name: name, chain: chain, naming: naming)
            let plan = Planner.plan(outputs: [output], inBatch: false)
            let file = "staging/\(name ?? "1").\(format)"
            try write("new \(format)", to: file)
            return ImageHandle.Staged(picture: try #require(plan.results.first), path: "\(folder)/\(file)", result: nil)
        }

        func choose(
            _ staged: [ImageHandle.Staged], _ former: [PublishedFile], _ conflict: ConflictPolicy = .number,
            staging: String = "staging"
        ) throws -> Publisher.Publication {
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: conflict,
                outbox: "\(folder)/out", inbox: "/inbox")
            return try publisher.choose(
                staged, order: order, path: "a.png",
                replacing: Publisher.EarlierResults(results: former, staging: "\(folder)/\(staging)"))
        }
    }

    private func with(_ body: (Outbox) throws -> Void) throws {
        try withTemporaryFolder { try body(Outbox(folder: $0)) }
    }

    @Test("a result keeps its name and number; a result in another format gets its own name, and the old file goes")
    func names() throws {
        try with { outbox in
            let former = try outbox.former("a-1.jpg", "a-1.small.png")
            let publication = try outbox.choose([outbox.staged("jpeg"), outbox.staged("webp", "small")], former)
            let published = try outbox.publisher.publish(publication) { $1(true) }
            #expect(try outbox.names == ["a-1.jpg", "a-1.small.webp"])
            #expect(published.published.map { FileSystem.name(of: $0.path) } == ["a-1.jpg", "a-1.small.webp"])
            #expect(try outbox.text("out/a-1.jpg") == "new jpeg" && published.left == [])
            #expect(try published.published.map { try $0.file.standing() } == [.same, .same])
            outbox.publisher.discard(publication.intent)
            #expect(try FileSystem.names(in: "\(outbox.folder)/staging") == [])
        }
    }

    @Test("a result that has vanished from staging fails the publication, and the earlier result stays")
    func vanished() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg")
            let staged = try outbox.staged("jpeg")
            try FileSystem.remove(staged.path)
            #expect(throws: SystemError("lstat", staged.path, code: ENOENT)) { try outbox.choose([staged], former) }
            #expect(try outbox.text("out/a.jpg") == "old a.jpg")
        }
    }

    @Test("the folder of a withdrawn result is removed when it is empty")
    func folders() throws {
        try with { outbox in
            let former = try outbox.former("old/a.jpg", "shared/a.small.png")
            try outbox.write("mine", to: "out/shared/b.png")
            var staged = try outbox.staged("jpeg")
            staged.path = "\(outbox.folder)/out/.staging/root/1"
            try outbox.write("new", to: "out/.staging/root/1")
            let publication = try outbox.choose([staged], former, staging: "out/.staging/root")
            _ = try outbox.publisher.publish(publication) { $1(true) }
            outbox.publisher.discard(publication.intent)
            #expect(try outbox.names == [".staging", "a.jpg", "shared"])
        }
    }

    @Test("a name that another job has reserved or a user's file has is not taken")
    func others() throws {
        try with { outbox in
            let former = try outbox.former("a.png")
            try outbox.write("mine", to: "out/a.jpg")
            let publication = try outbox.choose([outbox.staged("jpeg")], former)
            #expect(publication.intent.steps.map { FileSystem.name(of: $0.target) } == ["a-1.jpg", "a.png"])
            _ = try outbox.publisher.publish(publication) { $1(true) }
            #expect(try outbox.names == ["a-1.jpg", "a.jpg"] && outbox.text("out/a.jpg") == "mine")
        }
    }

    @Test(
        "a file that a user changes in between stays; another name is recorded before its use, unless Conflict=skip",
        arguments: ConflictPolicy.allCases)
    func changedInBetween(conflict: ConflictPolicy) throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            let publication = try outbox.choose([outbox.staged("jpeg")], former, conflict)
            try outbox.write("mine", to: "out/a.jpg")
            try outbox.write("mine, too", to: "out/a.small.png")
            var recorded: [[String]] = []
            let published = try outbox.publisher.publish(publication) { intent, done in
                recorded.append(intent.steps.map { FileSystem.name(of: $0.target) })
                done(true)
            }
            let isLeftOut = conflict == .skip
            #expect(recorded == (isLeftOut ? [] : [["a-1.jpg", "a.small.png"]]))
            #expect(try outbox.names == (isLeftOut ? [] : ["a-1.jpg"]) + ["a.jpg", "a.small.png"])
            #expect(try outbox.text("out/a.jpg") == "mine" && outbox.text("out/a.small.png") == "mine, too")
            #expect(published.published.map { FileSystem.name(of: $0.path) } == (isLeftOut ? [] : ["a-1.jpg"]))
            #expect(published.left.map { FileSystem.name(of: $0) } == ["a.jpg", "a.small.png"])
        }
    }

    @Test("a user's file that a crash left in staging is put back, and the new result gets another name")
    func crashedInBetween() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg")
            let intent = try outbox.choose([outbox.staged("jpeg")], former).intent
            try outbox.write("mine", to: "out/a.jpg")
            #expect(try FileSystem.exchange(intent.steps[0].staging, intent.steps[0].target))
            let recovered = try #require(try outbox.publisher.recover(intent))
            #expect(recovered.published.map { FileSystem.name(of: $0.path) } == ["a-1.jpg"])
            #expect(recovered.left.map { FileSystem.name(of: $0) } == ["a.jpg"])
            #expect(try outbox.text("out/a.jpg") == "mine" && outbox.text("out/a-1.jpg") == "new jpeg")
        }
    }

    @Test("when every earlier result was changed or removed, the new ones keep the number and the changed one stays")
    func noneAsBefore() throws {
        try with { outbox in
            let former = try outbox.former("a-1.jpg", "a-1.small.png")
            try outbox.write("mine", to: "out/a-1.jpg")
            try FileSystem.remove("\(outbox.folder)/out/a-1.small.png")
            let intent = try outbox.choose([outbox.staged("jpeg"), outbox.staged("png", "small")], former).intent
            #expect(intent.steps.map { FileSystem.name(of: $0.target) } == ["a-1-1.jpg", "a-1.small.png"])
            #expect(intent.left?.map { FileSystem.name(of: $0) } == ["a-1.jpg"])
        }
    }

    @Test("a counter starts at 1, whatever the earlier result's name is")
    func firstNumber() throws {
        try with { outbox in
            let staged = try outbox.staged("jpeg", naming: NameTemplate("{counter}"))
            let intent = try outbox.choose([staged], outbox.former("0.jpg")).intent
            #expect(intent.steps.map { FileSystem.name(of: $0.target) } == ["1.jpg", "0.jpg"])
        }
    }

    @Test("a number is found again, however high, and beside other digits", arguments: [7, 123_456])
    func highNumbers(number: Int) throws {
        try with { outbox in
            let former = try outbox.former("a-\(number).jpg", "a-\(number).small.png")
            let intent = try outbox.choose([outbox.staged("jpeg"), outbox.staged("png", "small")], former).intent
            #expect(
                intent.steps.map { FileSystem.name(of: $0.target) } == ["a-\(number).jpg", "a-\(number).small.png"]
            )
            let naming = try NameTemplate("20{counter:3}{recipe}")
            let counted = try outbox.former("20\(number.padded)r.jpg")
            let other = try outbox.choose([outbox.staged("jpeg", naming: naming)], counted).intent
            #expect(other.steps.map { FileSystem.name(of: $0.target) } == ["20\(number.padded)r.jpg"])
        }
    }

    @Test("replaced and withdrawn results are brought back; a new result that a user has changed stays")
    func takenBack() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            let publication = try outbox.choose([outbox.staged("jpeg"), outbox.staged("webp", "big")], former)
            _ = try outbox.publisher.publish(publication) { $1(true) }
            for _ in 1...2 {
                try outbox.publisher.takeBack(publication.intent)
                #expect(try outbox.names == ["a.jpg", "a.small.png"])
                #expect(try former.map { try $0.standing() } == [.same, .same])
            }
            // A later attempt still publishes the same results.
            let recovered = try #require(try outbox.publisher.recover(publication.intent))
            #expect(recovered.published.count == 2)
            #expect(try outbox.names == ["a.big.webp", "a.jpg"])
            try outbox.write("mine", to: "out/a.jpg")
            try outbox.publisher.takeBack(publication.intent)
            #expect(try outbox.names == ["a.jpg", "a.small.png"] && outbox.text("out/a.jpg") == "mine")
        }
    }

    @Test("after half of several renames, the publication can still be finished or undone", arguments: [false, true])
    func halfWay(isMoved: Bool) throws {
        try with { outbox in
            let former = try outbox.former("a.jpg")
            func begin() throws -> PublishIntent {
                let intent = try outbox.choose([outbox.staged("jpeg")], former).intent
                let step = intent.steps[0]
                try FileSystem.rename(step.target, step.aside)
                if isMoved { try FileSystem.rename(step.staging, step.target) }
                return intent
            }
            try outbox.publisher.takeBack(begin())
            #expect(try former.map { try $0.standing() } == [.same])
            #expect(try outbox.publisher.recover(begin())?.published.count == 1)
            #expect(try outbox.names == ["a.jpg"] && outbox.text("out/a.jpg") == "new jpeg")
        }
    }

    @Test("after half of the renames, a user's file keeps its name, the new result gets another, and the old one goes")
    func halfWayTaken() throws {
        try with { outbox in
            let intent = try outbox.choose([outbox.staged("jpeg")], outbox.former("a.jpg")).intent
            try FileSystem.rename(intent.steps[0].target, intent.steps[0].aside)
            try outbox.write("mine", to: "out/a.jpg")
            let recovered = try #require(try outbox.publisher.recover(intent))
            #expect(recovered.published.map { FileSystem.name(of: $0.path) } == ["a-1.jpg"])
            outbox.publisher.discard(intent)
            #expect(try outbox.names == ["a-1.jpg", "a.jpg"] && outbox.text("out/a.jpg") == "mine")
            #expect(try FileSystem.names(in: "\(outbox.folder)/staging") == [])
        }
    }

    /// Runs `body` with a file system that can neither exchange files nor rename without replacing. Checks that the
    /// daemon does not link a file into staging instead, because after a crash the file would lie in both places.
    private func withPlainRenames(in outbox: Outbox, _ body: () throws -> Void) rethrows {
        let links = Mutex<[String]>([])
        try Renames.refused(below: outbox.folder) { attempt in
            if attempt.isLink { links.withLock { $0.append(attempt.to) } }
        } during: {
            try body()
        }
        #expect(links.withLock { $0 }.allSatisfy { $0.hasPrefix("out/") })
    }

    @Test("without an exchange of files, a result still replaces an earlier one, and can be undone")
    func inSteps() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            let publication = try outbox.choose([outbox.staged("jpeg")], former)
            try withPlainRenames(in: outbox) {
                let published = try outbox.publisher.publish(publication) { $1(true) }
                #expect(published.published.map { FileSystem.name(of: $0.path) } == ["a.jpg"])
                #expect(try outbox.names == ["a.jpg"] && outbox.text("out/a.jpg") == "new jpeg")
                for _ in 1...2 {
                    try outbox.publisher.takeBack(publication.intent)
                    #expect(try former.map { try $0.standing() } == [.same, .same])
                    #expect(try outbox.text("staging/1.jpeg") == "new jpeg")
                }
            }
        }
    }

    @Test("a new result whose predecessor has gone is published once, and can be taken back")
    func aloneInSteps() throws {
        try with { outbox in
            let publication = try outbox.choose([outbox.staged("jpeg")], outbox.former("a.jpg"))
            try FileSystem.remove("\(outbox.folder)/out/a.jpg")
            try withPlainRenames(in: outbox) {
                #expect(try outbox.publisher.publish(publication) { $1(true) }.published.count == 1)
                #expect(try outbox.publisher.recover(publication.intent)?.published.count == 1)
                #expect(try outbox.names == ["a.jpg"])
                for _ in 1...2 {
                    try outbox.publisher.takeBack(publication.intent)
                    #expect(try outbox.names == [] && outbox.text("staging/1.jpeg") == "new jpeg")
                }
            }
        }
    }

    @Test("a user's file that appears at the last moment, while an old result is moved out, is put back and stays")
    func takenInTheLastMoment() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            let publication = try outbox.choose([outbox.staged("jpeg")], former)
            let left = Mutex<Set<String>>([])
            let published = try Renames.refused(below: outbox.folder) { attempt in
                guard attempt.from.hasPrefix("out/"), left.withLock({ $0.insert(attempt.from).inserted }) else {
                    return
                }
                try? outbox.write("mine", to: attempt.from)
            } during: {
                try outbox.publisher.publish(publication) { $1(true) }
            }
            #expect(try outbox.names == ["a-1.jpg", "a.jpg", "a.small.png"])
            #expect(try outbox.text("out/a.jpg") == "mine" && outbox.text("out/a.small.png") == "mine")
            #expect(published.published.map { FileSystem.name(of: $0.path) } == ["a-1.jpg"])
            #expect(published.left.map { FileSystem.name(of: $0) } == ["a.jpg", "a.small.png"])
        }
    }

    @Test("a result is withdrawn to a missing folder, which is then made durable")
    func missingStaging() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            // The earlier job published to another outbox.
            let staging = "before/.staging/root"
            let publication = try outbox.choose([outbox.staged("jpeg")], former, staging: staging)
            let published = try outbox.publisher.publish(publication) { $1(true) }
            #expect(try outbox.names == ["a.jpg"])
            #expect(published.folders == ["\(outbox.folder)/out", "\(outbox.folder)/\(staging)"])
            try outbox.publisher.takeBack(publication.intent)
            #expect(try former.map { try $0.standing() } == [.same, .same])
        }
    }

    @Test(
        "two files of one size and time are told apart by their inodes, even where inode numbers may change",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func equalMarks() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            try await Mount.withoutInodes("\(folder)/disk", size: "1m") { disk in
                let (outbox, path) = (Outbox(folder: disk.folder), "\(disk.folder)/out/a.jpg")
                try outbox.write("old jpeg", to: "out/a.jpg")
                let staged = try outbox.staged("jpeg")
                let time = try Descriptor.open(staged.path, O_RDONLY)
                try FileSystem.copyTimes(of: time, to: Descriptor.open(path, O_WRONLY))
                let former = PublishedFile(path: path, file: try FileSystem.status(path)?.identity)
                let publication = try outbox.choose([staged], [former])
                #expect(try outbox.publisher.publish(publication) { $1(true) }.published.count == 1)
                #expect(try outbox.text("out/a.jpg") == "new jpeg")
                try outbox.publisher.takeBack(publication.intent)
                #expect(try outbox.text("out/a.jpg") == "old jpeg" && outbox.text("staging/1.jpeg") == "new jpeg")
            }
        }
    }

    @Test("when a new result has vanished from staging, the old one stays and the new one is made again")
    func lost() throws {
        try with { outbox in
            let former = try outbox.former("a.jpg", "a.small.png")
            let both = try [outbox.staged("png", "small"), outbox.staged("jpeg")]
            let intent = try outbox.choose(both, former).intent
            #expect(try outbox.publisher.recover(PublishIntent(steps: [intent.steps[0]])) != nil)
            try FileSystem.remove(intent.steps[1].staging)
            #expect(try outbox.publisher.recover(intent) == nil)
            #expect(try former.map { try $0.standing() } == [.same, .same])
        }
    }
}

extension Int {
    /// The number in decimal, padded with zeros to at least three digits.
    fileprivate var padded: String {
        String(repeating: "0", count: Swift.max(0, 3 - "\(self)".count)) + "\(self)"
    }
}
