import Foundation
import SystemCalls

/// A small file system of its own. Mounting needs root, and is impossible in some containers. Tests that need a mount
/// are enabled only if `isPermitted` is true.
public struct Mount: Sendable {
    public let folder: String

    public static let isPermitted: Bool = {
        let folder = NSTemporaryDirectory() + "pipelined-mount-\(UUID().uuidString)"
        mkdir(folder, 0o755)
        defer { rmdir(folder) }
        guard mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount(folder) == 0
    }()

    public static func with<Result>(
        _ folder: String, size: String, _ body: (Mount) async throws -> Result
    ) async throws -> Result {
        let disk = try made(on: folder, size: size)
        defer { umount2(folder, Int32(MNT_DETACH)) }
        return try await body(disk)
    }

    /// Like `with`, but on an overlay, whose inode numbers count as unstable because of the file system's type.
    public static func withoutInodes<Result>(
        _ folder: String, size: String, _ body: (Mount) async throws -> Result
    ) async throws -> Result {
        try await with(folder + ".below", size: size) { below in
            let layers = ["lower", "upper", "work"].map { "\(below.folder)/\($0)" }
            for path in layers + [folder] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let options = "lowerdir=\(layers[0]),upperdir=\(layers[1]),workdir=\(layers[2])"
            guard mount("overlay", folder, "overlay", 0, options) == 0 else { throw SystemError("mount", folder) }
            defer { umount2(folder, Int32(MNT_DETACH)) }
            return try await body(Mount(folder: folder))
        }
    }

    /// Wraps a file system that is already mounted.
    public init(folder: String) { self.folder = folder }

    /// Mounts a file system, which stays until `unmount`.
    public static func made(on folder: String, size: String) throws -> Mount {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard mount("tmpfs", folder, "tmpfs", 0, "size=\(size)") == 0 else { throw SystemError("mount", folder) }
        return Mount(folder: folder)
    }

    public func unmount() throws {
        guard umount2(folder, Int32(MNT_DETACH)) == 0 else { throw SystemError("umount", folder) }
    }

    private var filler: String { "\(folder)/filler" }

    /// Uses up all free space.
    public func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw SystemError("open", filler) }
        defer { close(file) }
        for size in [65536, 4096, 1] {
            while [UInt8](repeating: 0, count: size).withUnsafeBytes({ write(file, $0.baseAddress, size) }) == size {}
        }
    }

    private func inode(_ number: Int) -> String { "\(folder)/.inode-\(number)" }

    /// Creates files until no inodes are free.
    public func takeInodes() throws {
        for number in 0... {
            let file = open(inode(number), O_WRONLY | O_CREAT, 0o644)
            guard file >= 0 else {
                if errno == ENOSPC { return }
                throw SystemError("open", inode(number))
            }
            close(file)
        }
    }

    public func freeInodes() throws { for number in 0..<10 { try remove(inode(number)) } }

    public func free() throws { try remove(filler) }

    private func remove(_ path: String) throws {
        guard unlink(path) == 0 else { throw SystemError("unlink", path) }
    }
}
