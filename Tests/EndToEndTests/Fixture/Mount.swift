import Foundation
import Testing

/// A small file system of its own. Only root may mount one, and not in every container: tests that need one say so.
struct Mount {
    let folder: String

    static let isPermitted: Bool = {
        let folder = NSTemporaryDirectory() + "pipelined-mount-\(UUID().uuidString)"
        mkdir(folder, 0o755)
        defer { rmdir(folder) }
        guard mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount(folder) == 0
    }()

    static func with<Result>(
        _ folder: String, size: String, _ body: (Mount) async throws -> Result
    ) async throws -> Result {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try #require(mount("tmpfs", folder, "tmpfs", 0, "size=\(size)") == 0)
        defer { umount2(folder, Int32(MNT_DETACH)) }
        return try await body(Mount(folder: folder))
    }

    private var filler: String { "\(folder)/filler" }

    /// Takes all the room that is left.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        try #require(file >= 0)
        defer { close(file) }
        for size in [65536, 4096, 1] {
            while [UInt8](repeating: 0, count: size).withUnsafeBytes({ write(file, $0.baseAddress, size) }) == size {}
        }
    }

    private func inode(_ number: Int) -> String { "\(folder)/.inode-\(number)" }

    /// Makes files until there can be no more.
    func takeInodes() throws {
        for number in 0... {
            let file = open(inode(number), O_WRONLY | O_CREAT, 0o644)
            guard file >= 0 else { return try #require(errno == ENOSPC) }
            close(file)
        }
    }

    func freeInodes() throws { for number in 0..<10 { try #require(unlink(inode(number)) == 0) } }

    func free() throws { try #require(unlink(filler) == 0) }
}
