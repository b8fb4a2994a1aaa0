import Foundation

/// A recording by `faulty_disk.c`: the initial state of the disk, and all changes.
struct DiskRecord {
    enum Change {
        case names(NameChange)
        case bytes(node: Int, ByteChange, modified: Int64)
        case mode(node: Int, UInt32)
        /// A file or folder is synced, which makes it durable.
        case sync(node: Int, path: String)
        /// A message from the test, for example that a client got its reply.
        case mark(String)

        /// The recorded line of a change of names; nil for other changes.
        var text: String? { if case .names(let change) = self { change.text } else { nil } }
    }

    /// A set of names that appear, vanish or change atomically.
    struct NameChange {
        struct Entry {
            var folder: Int
            var name: String
            /// Nil if the name is removed.
            var node: Int?
        }

        var text: String
        var entries: [Entry]
        /// The nodes that gain or lose a name.
        var nodes: Set<Int>
        /// Folders. A sync of any of them makes the change durable.
        var folders: Set<Int>
    }

    enum ByteChange {
        case write(at: Int, [UInt8])
        case size(Int)
        /// Space is reserved for the file up to this offset, and the file is at least that large.
        case room(Int)
        case times
    }

    private(set) var changes: [Change] = []
    let first: DiskImage
    /// Each node as it was created, without its bytes and names.
    private(set) var made: [Int: DiskImage.Node] = [:]

    /// Each sync, with its index in `changes`.
    var syncs: [(index: Int, node: Int, path: String)] {
        changes.enumerated().compactMap { index, change in
            if case .sync(let node, let path) = change { (index, node, path) } else { nil }
        }
    }

    /// Moves a change to an earlier index.
    mutating func move(_ index: Int, before earlier: Int) { changes.insert(changes.remove(at: index), at: earlier) }

    /// Reads a recording that began with the image `first`.
    init(_ file: String, first: DiskImage, inodes: [UInt64: Int]) throws {
        self.first = first
        var reader = Reader(
            bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))), image: first, inodes: inodes)
        while let change = try reader.next() {
            if case .some(let change) = change { changes.append(change) }
        }
        made = reader.made
    }
}

/// Reads a recording line by line. Applies each change before it reads the next line, because the paths in a line are
/// the paths at the time of the change.
private struct Reader {
    let bytes: [UInt8]
    var image: DiskImage
    var inodes: [UInt64: Int]
    var at = 0
    var made: [Int: DiskImage.Node] = [:]
    /// The latest path of each node, even after the removal of its name.
    var names: [Int: String]

    init(bytes: [UInt8], image: DiskImage, inodes: [UInt64: Int]) {
        (self.bytes, self.image, self.inodes) = (bytes, image, inodes)
        names = Dictionary(image.paths.map { ($0.node, $0.path) }) { first, _ in first }
        names[DiskImage.top] = "/"
    }

    private mutating func line() -> [String]? {
        guard at < bytes.count, let end = bytes[at...].firstIndex(of: 10) else { return nil }
        defer { at = end + 1 }
        return String(decoding: bytes[at..<end], as: UTF8.self).split(separator: "\t").map(String.init)
    }

    /// Returns the next change. Returns nil at EOF, and `.some(nil)` for a line about an ignored path.
    mutating func next() throws -> DiskRecord.Change?? {
        guard let words = line(), let kind = words.first else { return .none }
        func number(_ index: Int, radix: Int = 10) -> Int { Int(words[index], radix: radix) ?? 0 }
        switch kind {
        case "mark": return .some(.mark(words[1]))
        case "create", "mkdir":
            guard let place = counted(words[3]) else {
                inodes[UInt64(number(1))] = nil
                return .some(nil)
            }
            let node = image.nodes.count
            made[node] = DiskImage.Node(isFolder: kind == "mkdir", mode: UInt32(number(2, radix: 8)))
            image.nodes[node] = made[node]
            inodes[UInt64(number(1))] = node
            names[node] = words[3]
            return .some(change(words, [(place, node)], folders: [place.folder], nodes: [node]))
        case "unlink", "rmdir":
            guard let place = counted(words[1]), let node = image.node(at: words[1]) else { return .some(nil) }
            return .some(change(words, [(place, nil)], folders: [place.folder], nodes: [node]))
        case "link":
            guard let place = counted(words[2]), let node = image.node(at: words[1]) else { return .some(nil) }
            return .some(change(words, [(place, node)], folders: [place.folder], nodes: [node]))
        case "rename":
            guard let from = counted(words[2]), let to = counted(words[3]), let node = image.node(at: words[2]) else {
                return .some(nil)
            }
            let other = image.node(at: words[3])
            let isExchange = number(1) & 2 != 0
            names[node] = words[3]
            if isExchange, let other { names[other] = words[2] }
            return .some(
                change(
                    words, [(from, isExchange ? other : nil), (to, node)],
                    // A sync of the folder with the new name makes a move durable.
                    folders: isExchange ? [from.folder, to.folder] : [to.folder],
                    nodes: Set([node, other].compactMap(\.self))))
        case "write":
            let count = number(4)
            let written = Array(bytes[at..<at + count])
            at += count + 1
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.bytes(node: node, .write(at: number(3), written), modified: Int64(number(2))))
        case "truncate":
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.bytes(node: node, .size(number(3)), modified: Int64(number(2))))
        case "utimens":
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.bytes(node: node, .times, modified: Int64(number(2))))
        case "allocate":
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.bytes(node: node, .room(number(3)), modified: Int64(number(2))))
        case "chmod":
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.mode(node: node, UInt32(number(2, radix: 8))))
        case "sync":
            guard let node = inodes[UInt64(number(1))] else { return .some(nil) }
            return .some(.sync(node: node, path: names[node] ?? "?"))
        default: throw Missing("a recording has the line '\(words.joined(separator: " "))'")
        }
    }

    private func counted(_ path: String) -> (folder: Int, name: String)? {
        DiskImage.counts(path) ? image.place(of: path) : nil
    }

    private mutating func change(
        _ words: [String], _ entries: [(place: (folder: Int, name: String), node: Int?)], folders: Set<Int>,
        nodes: Set<Int>
    ) -> DiskRecord.Change {
        let change = DiskRecord.NameChange(
            text: words.joined(separator: " "),
            entries: entries.map { .init(folder: $0.place.folder, name: $0.place.name, node: $0.node) }, nodes: nodes,
            folders: folders)
        image.apply(change)
        return .names(change)
    }
}

extension DiskImage {
    mutating func apply(_ change: DiskRecord.NameChange) {
        for entry in change.entries { nodes[entry.folder]?.entries[entry.name] = entry.node }
    }
}
