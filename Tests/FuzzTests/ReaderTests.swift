import Foundation
import Testing

@Suite("Readers of untrusted bytes")
struct ReaderTests {
    @Test("Every reader survives every input of the corpus", arguments: FuzzTarget.all)
    func corpus(target: FuzzTarget) throws {
        // If the reader crashes, its name is the last line of the log.
        FileHandle.standardError.write(Data("\(target.name)\n".utf8))
        for input in try Corpus.inputs(of: target) { target.read(input) }
    }

    @Test("The corpus has a file for every reader, and at most a megabyte in total")
    func size() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Corpus.folder, includingPropertiesForKeys: [.fileSizeKey])
        let names = files.map { $0.deletingPathExtension().lastPathComponent }
        #expect(names.sorted() == FuzzTarget.all.map { $0.name }.sorted())
        let size = try files.reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
        #expect(size < 1 << 20)
    }

    @Test(
        "The fuzzer finds no input that breaks a reader",
        .enabled(if: Search.name != nil, "./run fuzz --target NAME MINUTES runs it"))
    func search() throws {
        try Search.run(#require(FuzzTarget.all.first { $0.name == Search.name }))
    }
}
