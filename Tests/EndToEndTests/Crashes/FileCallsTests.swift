import Foundation
import TestTools
import Testing

@Suite("The library that intercepts the daemon's file calls")
struct FileCallsTests {
    /// The system calls that change files.
    private static let calls = [
        "mkdir", "mkdirat", "rmdir", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "fsync",
        "fdatasync", "pwrite64", "ftruncate",
    ]

    @Test("the library records exactly the calls that the kernel sees")
    func whole() async throws {
        let crash = CrashCase.all[0]
        try await DaemonFixture.with(crash.files, started: false) { daemon in
            let (seen, recorded) = (daemon.path("seen"), daemon.path("recorded"))
            let strace = FileCalls.strace(Self.calls, to: seen)
            try await daemon.start(under: strace + FileCalls.wrapper(recordedIn: recorded))
            try daemon.drop(crash.picture, as: crash.path, inbox: crash.inbox)
            try await daemon.waitForAll()
            #expect(try await daemon.pipectl("undo", "1").status == 0)
            await daemon.stop()
            let calls = try FileCall.read(recorded, below: daemon.root.path).filter { $0.name != "openat" }
            #expect(calls.count > 100)
            let kernel = try daemon.text("seen").split(separator: "\n").compactMap { line -> String? in
                guard line.contains(daemon.root.path), !line.contains("resumed>") else { return nil }
                return line.prefix { $0 != "(" }.split(separator: " ").last.map(String.init)
            }
            #expect(Self.counts(calls.map(\.name)) == Self.counts(kernel))
        }
    }

    private static func counts(_ names: [String]) -> [String: Int] {
        Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
    }
}
