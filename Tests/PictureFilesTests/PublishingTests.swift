import Foundation
import JobLedger
import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing
import WorkerPools
import WorkerProtocol

@testable import InboxWatching
@testable import PictureFiles

@Suite("Names and moves of results")
struct PublishingTests {
    private func order(_ outbox: String, _ conflict: ConflictPolicy = .number) -> WorkOrder {
        WorkOrder(
            recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: conflict, outbox: outbox,
            inbox: "/inbox")
    }

    private func staged(_ path: String, _ name: String? = nil) throws -> ImageHandle.Staged {
        try FileSystem.write(Array("result".utf8), to: path)
        return ImageHandle.Staged(picture: try picture(name, "jpeg"), path: path, result: nil)
    }

    private func picture(_ name: String?, _ format: String) throws -> PlannedPicture {
        let chain = try Chain(parsing: "save format=\(format)", catalog: .builtIn)
        let plan = Planner.plan(outputs: [RecipeOutput(name: name, chain: chain)], inBatch: false)
        return try #require(plan.results.first)
    }

    @Test("a result keeps its subfolder and stem, and gets the output's name and the encoder's suffix")
    func names() throws {
        let name = ResultName(order: order("/out"), path: "album/sun.set.png")
        let plain = ImageHandle.Staged(picture: try picture(nil, "jpeg"), path: "")
        let thumb = ImageHandle.Staged(picture: try picture("thumb", "webp"), path: "")
        let both = [plain, thumb]
        #expect(name.path(plain, of: both, number: 0) == "/out/album/sun.set.jpg")
        #expect(name.path(thumb, of: both, number: 2) == "/out/album/sun.set-2.thumb.webp")
    }

    @Test("an output named like its format appears once in the name, unless another result has that name")
    func namesOfFormats() throws {
        let name = ResultName(order: order("/out"), path: "x.png")
        func staged(_ name: String?, _ format: String) throws -> ImageHandle.Staged {
            ImageHandle.Staged(picture: try picture(name, format), path: "")
        }
        func paths(_ all: [ImageHandle.Staged]) -> [String] { all.map { name.path($0, of: all, number: 0) } }
        #expect(
            try paths([staged("avif", "avif"), staged("jpeg", "jpeg"), staged("tif", "tiff")])
                == ["/out/x.avif", "/out/x.jpg", "/out/x.tif"])
        // The suffix must never appear twice, as in `x.avif.avif`.
        #expect(try paths([staged(nil, "avif"), staged("avif", "avif")]) == ["/out/x.avif", "/out/x-avif.avif"])
        #expect(try paths([staged("jpg", "jpeg"), staged("jpeg", "jpeg")]) == ["/out/x-jpg.jpg", "/out/x-jpeg.jpg"])
        let twice = ResultName(order: order("/out"), path: "album.AVIF.png")
        let plain = try staged(nil, "avif")
        #expect(twice.path(plain, of: [plain], number: 0) == "/out/album.avif")
        var same = try staged(nil, "same")
        same.result = RenderedOutput(format: "tiff", width: 1, height: 1, bands: 1, bytes: 1)
        #expect(try paths([same, staged("gif", "gif")]) == ["/out/x.tif", "/out/x.gif"])
        #expect(try paths([same, staged("tif", "tiff")]) == ["/out/x.tif", "/out/x-tif.tif"])
    }

    @Test("a name of 255 bytes is shortened between characters, and still gets its number")
    func longName() throws {
        let stem = String(repeating: "ü", count: 125)
        let name = ResultName(order: order("/out"), path: stem + ".jpg")
        let thumb = ImageHandle.Staged(picture: try picture("thumbnail", "webp"), path: "")
        let file = FileSystem.name(of: name.path(thumb, of: [thumb], number: 12))
        #expect(file.utf8.count <= 255)
        #expect(file.hasSuffix("ü-12.thumbnail.webp"))
    }

    @Test(
        "a name's number is found, and no other digits are mistaken for it",
        arguments: [("a/b-1.jpg", "a/b.jpg"), ("b-12.small.png", "b-12.small.png"), ("a/b-x.jpg", "a/b-x.jpg")])
    func unnumbered(name: String, stem: String) { #expect(ResultName.unnumbered(name) == stem) }

    @Test(
        "a disk has room when it has the wanted space in addition to the file's size",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func room() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            try await Mount.with("\(folder)/disk", size: "1m") { disk in
                func isEnough(written: Int64) -> Bool {
                    DiskRoom.isEnough(in: "\(disk.folder)/out", written: written, freeSpace: 64 << 10)
                }
                #expect(isEnough(written: 0) && isEnough(written: 400 << 10) && !isEnough(written: 600 << 10))
                try disk.fill()
                #expect(!isEnough(written: 0))
                try disk.free()
                #expect(isEnough(written: 0))
                #expect(try FileSystem.names(in: "\(disk.folder)/out") == [])
            }
        }
    }

    @Test("a result whose length differs from its worker's report is not published")
    func otherLength() throws {
        try withTemporaryFolder { folder in
            var file = try staged("\(folder)/1")
            file.result = RenderedOutput(format: "jpeg", width: 1, height: 1, bands: 1, bytes: 6)
            try StagingSync(file).finish()
            file.result?.bytes = 7
            let failure = try #require(throws: JobFailure.self) { try StagingSync(file).finish() }
            #expect(failure.message.contains("has 6 bytes, not 7"))
            #expect(failure.advice?.contains("pipectl retry") == true)
        }
    }

    @Test("nothing is claimed through a subfolder of the inbox that has become a link")
    func linkedFolder() throws {
        try withTemporaryFolder { folder in
            try FileSystem.makeFolders("\(folder)/inbox/album/deep")
            try FileSystem.makeFolders("\(folder)/elsewhere")
            try FileSystem.write(Array("mine".utf8), to: "\(folder)/elsewhere/a.png")
            try FileSystem.write(Array("dropped".utf8), to: "\(folder)/inbox/album/deep/a.png")
            let claims = try ClaimFolders(root: "r").begin("\(folder)/inbox") { false }
            func claim() throws -> String {
                try claims.claim("album/deep/a.png") { _ in false }
            }
            let claimed = try claim()
            #expect(claimed == "\(folder)/inbox/.pipelined/r/0/album/deep/a.png")
            #expect(rmdir("\(folder)/inbox/album/deep") == 0)
            #expect(symlink("\(folder)/elsewhere", "\(folder)/inbox/album/deep") == 0)
            #expect(throws: SystemError.self) { try claim() }
            #expect(try FileSystem.exists("\(folder)/elsewhere/a.png"))
        }
    }

    @Test("two jobs that publish the same name at the same time get different names")
    func reservation() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let first = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            let second = try publisher.choose(
                [staged("\(folder)/2")], order: order("\(folder)/out"), path: "same.png")
            #expect(first.intent.steps.map(\.target) == ["\(folder)/out/same.jpg"])
            #expect(second.intent.steps.map(\.target) == ["\(folder)/out/same-1.jpg"])
        }
    }

    @Test("a job that publishes under a name that another job has reserved does not free it")
    func othersReservation() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            func target(_ number: Int, _ conflict: ConflictPolicy) throws -> (Publisher.Publication, String) {
                let publication = try publisher.choose(
                    [staged("\(folder)/\(number)")], order: order("\(folder)/out", conflict), path: "same.png")
                return (publication, FileSystem.name(of: publication.intent.steps[0].target))
            }
            let (first, name) = try target(1, .number)
            for (number, conflict) in [(2, ConflictPolicy.replace), (3, .skip)] {
                let (other, same) = try target(number, conflict)
                #expect(same == name)
                publisher.release(other)
            }
            #expect(try target(4, .number).1 == "same-1.jpg")
            publisher.release(first)
            #expect(try target(5, .number).1 == "same.jpg")
        }
    }

    @Test("a published result is recognised, even if a crash came before its end was recorded")
    func knownAgain() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            let published = try publisher.publish(publication) { $1(true) }
            #expect(try published.published.map { try $0.file.standing() } == [.same])
            #expect(try publisher.recover(publication.intent)?.published == published.published)
            // An older version's intent does not contain the file's identity.
            var older = publication.intent
            older.steps[0].file = nil
            #expect(try publisher.recover(older)?.published.map(\.file) == published.published.map(\.file))
        }
    }

    @Test("a name that another program takes in between is not replaced: a new name is recorded, then used")
    func takenInBetween() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            try FileSystem.write(Array("a stranger's".utf8), to: "\(folder)/out/same.jpg")
            var recorded: [String] = []
            let published = try publisher.publish(publication) { intent, done in
                recorded += intent.steps.map(\.target)
                done(true)
            }
            #expect(recorded == ["\(folder)/out/same-1.jpg"])
            #expect(published.published.map(\.path) == recorded)
            #expect(try String(contentsOfFile: "\(folder)/out/same.jpg", encoding: .utf8) == "a stranger's")
        }
    }

    @Test("another name is used only once it is recorded, however late the ledger reports that")
    func recordedLater() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            try FileSystem.write(Array("a stranger's".utf8), to: "\(folder)/out/same.jpg")
            let ledger = DispatchQueue(label: "test")
            let published = try publisher.publish(publication) { intent, done in
                ledger.async {
                    #expect((try? FileSystem.exists(intent.steps[0].target)) == false)
                    done(true)
                }
            }
            #expect(published.published.map { FileSystem.name(of: $0.path) } == ["same-1.jpg"])
        }
    }

    @Test(
        "a name that the ledger refuses to record is not used, and the job fails", arguments: [false, true])
    func refusedName(resuming: Bool) throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            try FileSystem.write(Array("a stranger's".utf8), to: "\(folder)/out/same.jpg")
            #expect(throws: JobFailure.self) {
                if resuming {
                    _ = try publisher.recover(publication.intent) { $1(false) }
                } else {
                    _ = try publisher.publish(publication) { $1(false) }
                }
            }
            #expect(try FileSystem.names(in: "\(folder)/out") == ["same.jpg"])
            #expect(try FileSystem.exists("\(folder)/1"))
        }
    }

    @Test("an interrupted publication is finished: renames that were made count, and the others follow")
    func recovery() throws {
        try withTemporaryFolder { folder in
            try FileSystem.makeFolders("\(folder)/out")
            _ = try staged("\(folder)/out/first.jpg")
            _ = try staged("\(folder)/2")
            let intent = PublishIntent(steps: [
                .init(staging: "\(folder)/1", target: "\(folder)/out/first.jpg", conflict: .number),
                .init(staging: "\(folder)/2", target: "\(folder)/out/second.jpg", conflict: .number),
            ])
            let published = try #require(try Publisher().recover(intent))
            #expect(published.published.map(\.path) == ["\(folder)/out/first.jpg", "\(folder)/out/second.jpg"])
            #expect(try FileSystem.exists("\(folder)/out/second.jpg"))
            #expect(try !FileSystem.exists("\(folder)/2"))
        }
    }

    @Test(
        "a rename that a crash interrupted is finished under the name that was chosen",
        arguments: [false, true])
    func halfRenamed(isCopied: Bool) throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out"), path: "same.png")
            let target = "\(folder)/out/same.jpg"
            if isCopied {
                // On a file system without stable inode numbers, a copy with the same times looks like a hard link.
                try FileManager.default.copyItem(atPath: "\(folder)/1", toPath: target)
                let file = try Descriptor.open("\(folder)/1", O_RDONLY)
                try FileSystem.copyTimes(of: file, to: Descriptor.open(target, O_WRONLY))
            } else {
                _ = try Descriptor.open(target, O_WRONLY | O_CREAT, mode: 0o200)
                #expect(try FileSystem.isPlaceholder(target))
            }
            #expect(try publisher.recover(publication.intent)?.published.map(\.path) == [target])
            #expect(try FileSystem.names(in: "\(folder)/out") == ["same.jpg"])
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "result")
            #expect(try !FileSystem.exists("\(folder)/1"))
        }
    }

    @Test("an interrupted publication that can't be finished takes its renames back")
    func recoveredTogether() throws {
        try withTemporaryFolder { folder in
            for name in ["1", "2"] { _ = try staged("\(folder)/\(name)") }
            try FileSystem.makeFolders("\(folder)/out")
            // A file occupies the name of the folder `album`.
            try FileSystem.write([], to: "\(folder)/out/album")
            let targets = ["\(folder)/out/first.jpg", "\(folder)/out/album/second.jpg"]
            let intent = PublishIntent(
                steps: try zip(["1", "2"], targets).map { name, target in
                    let file = try FileSystem.status("\(folder)/\(name)")?.identity
                    return .init(staging: "\(folder)/\(name)", target: target, conflict: .number, file: file)
                })
            #expect(throws: SystemError.self) { try Publisher().recover(intent) }
            #expect(try FileSystem.names(in: "\(folder)/out") == ["album"])
            #expect(try FileSystem.exists("\(folder)/1") && FileSystem.exists("\(folder)/2"))
        }
    }

    @Test("a result is taken back even when the folder that it was made in is gone")
    func takenBackToNewFolder() throws {
        try withTemporaryFolder { folder in
            let (publisher, out) = (Publisher(), "\(folder)/out")
            let staging = "\(out)/.staging/root"
            try FileSystem.makeFolders(staging)
            let publication = try publisher.choose([staged("\(staging)/1")], order: order(out), path: "same.png")
            _ = try publisher.publish(publication) { $1(true) }
            #expect(rmdir(staging) == 0)
            try publisher.takeBack(publication.intent)
            #expect(try FileSystem.names(in: out) == [".staging"])
            #expect(try String(contentsOfFile: "\(staging)/1", encoding: .utf8) == "result")
        }
    }

    @Test("an interrupted publication whose files are all gone is discarded")
    func nothingLeft() throws {
        try withTemporaryFolder { folder in
            let intent = PublishIntent(steps: [
                .init(staging: "\(folder)/1", target: "\(folder)/out/first.jpg", conflict: .number)
            ])
            let recovered = try Publisher().recover(intent)
            #expect(recovered == nil)
        }
    }

    @Test("two outputs are published together or not at all: a rename that fails takes the previous one back")
    func together() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let both = [try staged("\(folder)/1"), try staged("\(folder)/2", "second")]
            let publication = try publisher.choose(both, order: order("\(folder)/out"), path: "same.png")
            try FileSystem.remove("\(folder)/2")
            #expect(throws: SystemError.self) { try publisher.publish(publication) { $1(true) } }
            #expect(try FileSystem.names(in: "\(folder)/out") == [])
            #expect(try FileSystem.exists("\(folder)/1"))
        }
    }

    @Test(
        "taking back a folder's last result removes the folder, but not the outbox; the next result makes it again",
        arguments: [ConflictPolicy.number, .replace])
    func folders(conflict: ConflictPolicy) throws {
        try withTemporaryFolder { folder in
            let (publisher, out) = (Publisher(), "\(folder)/out")
            try FileSystem.makeFolders("\(out)/.staging/root")
            func choose(_ name: String) throws -> Publisher.Publication {
                let path = "\(out)/.staging/root/\(name)"
                return try publisher.choose([staged(path)], order: order(out, conflict), path: "album/deep/\(name).png")
            }
            let (one, two) = (try choose("a"), try choose("b"))
            try publisher.takeBack(one.intent)
            #expect(try FileSystem.names(in: out) == [".staging"])
            // Taking back the first job's results must not remove the folder that the second job published to.
            #expect(try publisher.publish(two) { $1(true) }.published.count == 1)
            try publisher.takeBack(one.intent)
            #expect(try FileSystem.names(in: "\(out)/album/deep") == ["b.jpg"])
            guard conflict == .number else { return }
            try publisher.takeBack(two.intent)
            #expect(try FileSystem.names(in: out) == [".staging"])
            #expect(try FileSystem.names(in: "\(out)/.staging/root").compactMap(\.self).sorted() == ["a", "b"])
        }
    }

    @Test("under Conflict=skip a name that is taken in between stays, and the result is left out")
    func skipped() throws {
        try withTemporaryFolder { folder in
            let publisher = Publisher()
            let publication = try publisher.choose(
                [staged("\(folder)/1")], order: order("\(folder)/out", .skip), path: "same.png")
            try FileSystem.write(Array("a stranger's".utf8), to: "\(folder)/out/same.jpg")
            let published = try publisher.publish(publication) { $1(true) }
            #expect(published.published.isEmpty)
            #expect(try FileSystem.names(in: "\(folder)/out") == ["same.jpg"])
            // The staging file stays until the job's end is recorded. It shows that this result was not published, so
            // taking back the publication does not touch the other program's file.
            #expect(try FileSystem.exists("\(folder)/1"))
            try publisher.takeBack(publication.intent)
            #expect(try FileSystem.names(in: "\(folder)/out") == ["same.jpg"])
        }
    }

    @Test(
        "an original never overwrites another, and keeps its times, also across file systems",
        arguments: ["/dev/shm", NSTemporaryDirectory()])
    func moving(parent: String) throws {
        try withTemporaryFolder { folder in
            try withTemporaryFolder(below: parent) { elsewhere in
                for number in 0..<3 {
                    let file = "\(folder)/original.jpg"
                    try FileSystem.write(Array("number \(number)".utf8), to: file)
                    let before = try #require(try FileSystem.status(file))
                    let target = try Moving.move(FilePlace(file), into: "\(elsewhere)/archive", as: "original.jpg")
                    #expect(FileSystem.name(of: target) == (number == 0 ? "original.jpg" : "original-\(number).jpg"))
                    #expect(try FileSystem.status(target)?.modified == before.modified)
                    #expect(try String(contentsOfFile: target, encoding: .utf8) == "number \(number)")
                    #expect(try !FileSystem.exists(file))
                }
                #expect(try FileSystem.names(in: "\(elsewhere)/archive").count == 3)
            }
        }
    }

    @Test("originals of several inboxes that move at once to a folder on another file system arrive whole, each once")
    func movingAtOnce() throws {
        try withTemporaryFolder { folder in
            try withTemporaryFolder(below: "/dev/shm") { elsewhere in
                // Links to one file are the hardest case: several moves copy the same inode at the same time.
                let texts = (0..<24).map { String(repeating: "picture \($0 / 4) ", count: 40_000) }
                for (number, text) in texts.enumerated() {
                    let file = "\(folder)/\(number)"
                    if number.isMultiple(of: 4) {
                        try FileSystem.write(Array(text.utf8), to: file)
                    } else {
                        try FileManager.default.linkItem(atPath: "\(folder)/\(number / 4 * 4)", toPath: file)
                    }
                }
                // A crash left a partial copy behind.
                try FileManager.default.createDirectory(atPath: "\(elsewhere)/all", withIntermediateDirectories: false)
                try FileSystem.write(Array("half".utf8), to: "\(elsewhere)/all/.pipelined-0.part")
                let failures = Mutex<[any Error]>([])
                DispatchQueue.concurrentPerform(iterations: texts.count) { number in
                    do {
                        _ = try Moving.move(
                            FilePlace("\(folder)/\(number)"), into: "\(elsewhere)/all", as: "\(number).jpg")
                    } catch {
                        failures.withLock { $0.append(error) }
                    }
                }
                #expect(failures.withLock { $0 }.isEmpty, "\(failures.withLock { $0 })")
                #expect(try FileSystem.names(in: folder) == [])
                #expect(try FileSystem.names(in: "\(elsewhere)/all").count == texts.count)
                for (number, text) in texts.enumerated() {
                    #expect(try String(contentsOfFile: "\(elsewhere)/all/\(number).jpg", encoding: .utf8) == text)
                }
            }
        }
    }

    @Test("an original does not follow a link that has replaced the destination of an undo")
    func swappedGoal() throws {
        try withTemporaryFolder { folder in
            let folder = FileSystem.resolved(folder)
            try FileSystem.makeFolders("\(folder)/goal")
            try FileSystem.makeFolders("\(folder)/recipes.d")
            _ = try UndoGoal.open("\(folder)/goal", below: "album")
            #expect(try FileSystem.exists("\(folder)/goal/album"))
            try FileManager.default.moveItem(atPath: "\(folder)/goal", toPath: "\(folder)/away")
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/goal", withDestinationPath: "\(folder)/recipes.d")
            for below in ["", "album"] {
                let error = #expect(throws: JobFailure.self) { try UndoGoal.open("\(folder)/goal", below: below) }
                #expect(error?.description.contains("put it back") == true)
            }
            #expect(try FileSystem.names(in: "\(folder)/recipes.d") == [])
        }
    }
}
