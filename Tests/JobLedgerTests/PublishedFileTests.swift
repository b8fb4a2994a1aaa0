import Foundation
import JobModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Recognising a published result")
struct PublishedFileTests {
    private func withResult(_ body: (PublishedFile) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/a.jpg"
            try FileSystem.write(Array("result".utf8), to: path)
            try body(PublishedFile(path: path, file: try FileSystem.status(path)?.identity))
        }
    }

    private func setTime(_ path: String, _ nanoseconds: Int) {
        let time = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        #expect(utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    @Test("a result is the same until someone writes to it, replaces it or removes it")
    func standing() throws {
        try withResult { result in
            #expect(try result.standing() == .same)
            chmod(result.path, 0o600)
            #expect(try result.standing() == .same)
            setTime(result.path, (result.file?.modified ?? 0) + 1)
            #expect(try result.standing() == .changed)
            setTime(result.path, result.file?.modified ?? 0)
            #expect(try result.standing() == .same)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: result.path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("!".utf8))
            try handle.close()
            setTime(result.path, result.file?.modified ?? 0)
            #expect(try result.standing() == .changed)
            try FileSystem.remove(result.path)
            #expect(try result.standing() == .gone)
        }
    }

    @Test("another file of the same size and time differs where inodes are stable, and so does a link to it")
    func replaced() throws {
        try withResult { result in
            let copy = result.path + ".copy"
            try FileSystem.write(Array("edited".utf8), to: copy)
            setTime(copy, result.file?.modified ?? 0)
            try FileSystem.rename(copy, result.path)
            #expect(try result.standing() == (FileSystem.keepsInodes(around: result.path) ? .changed : .same))
            try FileSystem.rename(result.path, copy)
            #expect(symlink(copy, result.path) == 0)
            #expect(try result.standing() == .changed)
        }
    }

    @Test("a result of an older version has only a path, so its file can't be recognised")
    func older() throws {
        try withResult { result in
            #expect(try PublishedFile(path: result.path).standing() == .unknown)
            #expect(try JSONText.decode([PublishedFile].self, #"["/a.jpg"]"#) == [PublishedFile(path: "/a.jpg")])
            let text = try JSONText.encode([result])
            #expect(try JSONText.decode([PublishedFile].self, text) == [result])
        }
    }
}
