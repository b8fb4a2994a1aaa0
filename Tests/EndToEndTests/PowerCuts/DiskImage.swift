import Foundation
import Glibc
import SystemCalls

/// The files and folders of a disk, in memory. A node is a file or folder, and may have several names.
struct DiskImage {
    struct Node {
        var isFolder: Bool
        var mode: UInt32
        /// Modification time, in nanoseconds since 1970.
        var modified: Int64 = 0
        var content = Content([])
        /// The nodes in the folder, by name.
        var entries: [String: Int] = [:]
    }

    /// The bytes of a file, with a hash that is computed once.
    final class Content: Sendable {
        let bytes: [UInt8]
        let hash: Int

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            var hasher = Hasher()
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            hash = hasher.finalize()
        }
    }

    static let top = 0

    var nodes = [DiskImage.top: Node(isFolder: true, mode: 0o755)]

    /// Whether the test considers a path. Sockets, copies of plugins and the ledger's shared-memory index are ignored,
    /// because no start needs them.
    static func counts(_ path: String) -> Bool {
        !["/run/", "/state/plugins/"].contains { path.hasPrefix($0) } && !path.hasSuffix("-shm")
    }

    /// Returns the node at an absolute path.
    func node(at path: String) -> Int? {
        path.split(separator: "/").reduce(Self.top) { folder, name in
            folder.flatMap { nodes[$0]?.entries[String(name)] }
        }
    }

    /// Returns the parent folder and the name of an absolute path.
    func place(of path: String) -> (folder: Int, name: String)? {
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last, let folder = node(at: "/" + parts.dropLast().joined(separator: "/")) else {
            return nil
        }
        return (folder, name)
    }

    /// Each node with each of its paths. Folders precede their contents.
    var paths: [(path: String, node: Int)] {
        var found: [(path: String, node: Int)] = []
        var folders = [(path: "", node: Self.top)]
        while let (path, folder) = folders.popLast() {
            for (name, node) in (nodes[folder]?.entries ?? [:]).sorted(by: { $0.key < $1.key }) {
                found.append((path: "\(path)/\(name)", node: node))
                if nodes[node]?.isFolder == true { folders.append((path: "\(path)/\(name)", node: node)) }
            }
        }
        return found
    }

    /// A hash that is equal for images with the same names and bytes.
    var hash: Int {
        var hasher = Hasher()
        for (path, node) in paths {
            hasher.combine(path)
            hasher.combine(nodes[node]?.content.hash)
        }
        return hasher.finalize()
    }

    // MARK: - From and to a folder

    /// Reads a folder from the real disk; returns its image and the node of each inode.
    static func read(_ folder: String) throws -> (image: DiskImage, inodes: [UInt64: Int]) {
        var image = DiskImage()
        var inodes: [UInt64: Int] = [:]
        if let own = try FileSystem.status(folder) { inodes[own.inode] = top }
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() where counts("/" + path) {
            guard let status = try FileSystem.status("\(folder)/\(path)"), [.file, .folder].contains(status.kind),
                let place = image.place(of: "/" + path)
            else { continue }
            let node = inodes[status.inode] ?? image.nodes.count
            inodes[status.inode] = node
            image.nodes[place.folder]?.entries[place.name] = node
            image.nodes[node] = Node(
                isFolder: status.kind == .folder, mode: status.mode & 0o7777, modified: status.modified)
            if status.kind == .file {
                image.nodes[node]?.content = Content(
                    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(path)"))))
            }
        }
        return (image, inodes)
    }

    /// Writes this image to an empty folder of the real disk.
    func write(to folder: String) throws {
        var written: [Int: String] = [:]
        for (relative, number) in paths {
            guard let node = nodes[number] else { continue }
            let path = folder + relative
            if node.isFolder {
                guard mkdir(path, 0o700) == 0 else { throw SystemError("mkdir", path) }
            } else if let other = written[number] {
                guard link(other, path) == 0 else { throw SystemError("link", path) }
            } else {
                let file = try Descriptor.open(path, O_WRONLY | O_CREAT | O_EXCL)
                // A long file of zeros only reserves space, which this test does not need, so it is not written.
                let text =
                    node.content.bytes.count > 1 << 20 && node.content.bytes.allSatisfy { $0 == 0 }
                    ? [] : node.content.bytes
                try file.write(text, called: path)
                guard ftruncate(file.number, off_t(node.content.bytes.count)) == 0 else {
                    throw SystemError("truncate", path)
                }
                written[number] = path
            }
            chmod(path, node.mode)
        }
        for (relative, number) in paths.reversed() {
            guard let node = nodes[number] else { continue }
            let time = timespec(tv_sec: Int(node.modified / 1_000_000_000), tv_nsec: Int(node.modified % 1_000_000_000))
            guard utimensat(AT_FDCWD, folder + relative, [time, time], 0) == 0 else {
                throw SystemError("utimensat", relative)
            }
        }
    }
}
