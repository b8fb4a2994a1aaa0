import Foundation
import SystemCalls
import TestTools
import Testing

@Suite("Small files")
struct SmallFileTests {
    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("a write replaces a file as a whole, and leaves no other file in the folder")
    func replaced() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/a"
            for content in ["a long text", "short"] {
                try FileSystem.write(Array(content.utf8), to: path)
                #expect(try text(path) == content)
            }
            #expect(try FileSystem.names(in: folder) == ["a"])
        }
    }

    @Test("a write that may not replace a file leaves it as it was, and cleans up")
    func kept() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/a"
            try FileSystem.write(Array("first".utf8), to: path, replaces: false)
            do {
                try FileSystem.write(Array("second".utf8), to: path, replaces: false)
                Issue.record("it has replaced the file")
            } catch let error as SystemError {
                #expect(error.code == EEXIST)
            }
            #expect(try text(path) == "first")
            #expect(try FileSystem.names(in: folder) == ["a"])
        }
    }

    @Test("a write that fails leaves no new file behind")
    func failed() throws {
        try withTemporaryFolder { folder in
            // A file can't replace a folder.
            try FileSystem.makeFolders("\(folder)/a")
            #expect(throws: SystemError.self) { try FileSystem.write([1], to: "\(folder)/a") }
            #expect(try FileSystem.names(in: folder) == ["a"])
        }
    }
}
