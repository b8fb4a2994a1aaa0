import Foundation
import Glibc
import SystemCalls
import TestTools
import Testing

/// A file system whose calls a test makes fail or hang. Its server is `faulty_disk.c`, which documents the commands.
struct FaultyDisk {
    private let folder: String
    /// The folder that contains the disk's files. Accesses through it bypass the faults.
    let store: String
    private let server: ChildProcess
    private let commands: Descriptor

    /// Whether this machine allows the mount. A plain container does not, so tests with a faulty disk are skipped
    /// there.
    static let isPermitted: Bool = {
        let tools = try? ChildProcess("/bin/sh", ["-c", "command -v clang && pkg-config --exists fuse3"]).wait()
        return tools?.status == 0 && access("/dev/fuse", R_OK | W_OK) == 0 && Mount.isPermitted
    }()

    static let absence: Comment = "needs root, /dev/fuse, clang and libfuse3-dev"

    private static let program = Result {
        try CSource.built("faulty_disk.c", "$(pkg-config --cflags --libs fuse3)")
    }

    /// Runs `body` with a faulty disk mounted on `folder`. The disk stores its files in a folder beside it.
    static func with<Result>(_ folder: String, _ body: (FaultyDisk) async throws -> Result) async throws -> Result {
        let disk = try FaultyDisk(folder)
        do {
            let result = try await body(disk)
            await disk.end()
            return result
        } catch {
            await disk.end()
            throw error
        }
    }

    private init(_ folder: String) throws {
        self.folder = folder
        store = folder + ".store"
        for folder in [folder, store] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let (ours, its) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        commands = ours
        server = try ChildProcess(try Self.program.get(), [store, folder], passed: [its])
        // The server replies once the disk is mounted.
        try clear()
    }

    private func end() async {
        shutdown(commands.number, Int32(SHUT_RDWR))
        _ = await server.outcome()
        umount2(folder, Int32(MNT_DETACH))
        try? FileManager.default.removeItem(atPath: store)
    }

    /// Sends a command; returns the number of calls that were refused or have hung since `clear`.
    @discardableResult
    private func tell(_ command: String) throws -> Int {
        try Socket.send(Array(command.utf8), to: commands)
        let answer = String(decoding: try Socket.receive(room: 64, from: commands).bytes, as: UTF8.self)
        guard let refused = Int(answer) else { throw Missing("the faulty disk says to '\(command)': \(answer)") }
        return refused
    }

    /// Refuses `times` of these calls on paths that match the pattern, beginning with call number `first`. If `times`
    /// is nil, refuses all later calls. The errors alternate.
    func refuse(
        _ call: String, _ glob: String, from first: Int = 1, times: Int? = nil, _ errors: [Int32] = [EIO, ESTALE]
    ) throws {
        try tell("fail \(call) \(glob) \(first - 1) \(times ?? -1) " + errors.map(String.init).joined(separator: " "))
    }

    /// Leaves this call unanswered on paths that match the pattern, until `clear`. The server has ten threads, so ten
    /// hanging calls block all others.
    func hang(_ call: String, _ glob: String = "*") throws { try tell("hang \(call) \(glob)") }

    /// Waits until `count` calls have been refused or are hanging.
    func meets(_ count: Int = 1) async throws { while try refused < count { await Look.again() } }

    /// Takes features away from the disk. `noreplace` disables renames that must not replace a file, and `link`
    /// disables hard links. `inodes` makes inode numbers depend on paths, and `numbers` makes them change with each
    /// call.
    func lack(_ what: String...) throws { for what in what { try tell("lack \(what)") } }

    /// From now on, `file` receives a record of every change and of every sync of a file or folder.
    func record(to file: String) throws { try tell("record \(file)") }

    /// Writes a line to the record.
    func mark(_ text: String) throws { try tell("mark \(text)") }

    /// Removes all faults, and answers the hanging calls.
    func clear() throws { try tell("clear") }

    /// Writes a file directly to the disk's store, where no faults apply.
    func put(_ data: Data = Picture.small, as path: String) throws {
        let file = URL(fileURLWithPath: store).appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Returns all files below a folder of the disk's store, sorted. No faults apply.
    func files(in path: String) -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: "\(store)/\(path)")) ?? []
        return paths.filter { isFile("\(path)/\($0)") }.sorted()
    }

    private func isFile(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(store)/\(path)", isDirectory: &isFolder)
            && !isFolder.boolValue
    }

    var refused: Int { get throws { try tell("count") } }
}
