/// A disk that loses power: its durable state, and the pending changes, which may or may not reach the disk.
///
/// The disk keeps the promises of POSIX, which are weaker than the promises of ext4, XFS and Btrfs. For parent folders
/// only, it promises more than POSIX. The rules are:
/// - A sync of a file makes its bytes durable, but not its name. A sync of a folder makes its names durable, and also a
///   file's move into the folder, but not a file's move out of it. Other changes may become durable without a sync.
/// - More than POSIX: a synced folder exists together with all its parent folders, and a name exists only in an
///   existing folder. ext4 and XFS have one journal for all names, and Btrfs logs new folders above a synced node.
/// - Unsynced bytes reach the disk in any order, in blocks. A file that has grown may contain zeros instead.
/// - A rename is atomic, and so is an exchange. Changes of one name keep their order, as do changes of one file's
///   names. A folder is removed only after its contents. All other changes of names reach the disk in any order.
struct PowerCut {
    private(set) var durable: DiskImage
    private var pending: [Pending] = []

    private struct Pending {
        enum Change {
            case names(DiskRecord.NameChange)
            case bytes(node: Int, DiskRecord.ByteChange, modified: Int64)
        }

        var change: Change
        /// Whether the sync that was left out would have made the change durable.
        var isOwed = false
    }

    init(_ record: DiskRecord) {
        durable = record.first
        durable.nodes.merge(record.made) { first, _ in first }
    }

    mutating func apply(_ change: DiskRecord.Change) {
        switch change {
        case .names(let change): pending.append(Pending(change: .names(change)))
        case .bytes(let node, let change, let modified):
            pending.append(Pending(change: .bytes(node: node, change, modified: modified)))
        case .mode(let node, let mode): durable.nodes[node]?.mode = mode
        case .sync(let node, _): sync(node)
        case .mark: break
        }
    }

    private mutating func sync(_ node: Int) {
        let forced = forced(by: node)
        guard !forced.isEmpty else { return }
        durable = image(forced, [:])
        pending = pending.enumerated().filter { !forced.contains($0.offset) }.map(\.element)
    }

    /// Leaves out a sync of this node, and marks the changes that it would have made durable.
    mutating func leaveOutSync(of node: Int) { for index in forced(by: node) { pending[index].isOwed = true } }

    /// Returns the changes that a sync of this node makes durable.
    private func forced(by node: Int) -> Set<Int> {
        var forced: Set<Int> = []
        let isFolder = durable.nodes[node]?.isFolder ?? false
        for (index, one) in pending.enumerated() {
            switch one.change {
            case .names(let names) where names.folders.contains(node) || isFolder && names.nodes.contains(node):
                forced.insert(index)
            case .bytes(let file, _, _) where file == node: forced.insert(index)
            default: break
            }
        }
        return withNeeds(forced)
    }

    // MARK: - Guaranteed order

    /// Returns the chosen changes together with all changes that must have reached the disk before them.
    private func withNeeds(_ chosen: Set<Int>) -> Set<Int> {
        var chosen = chosen
        for later in pending.indices.reversed() where chosen.contains(later) {
            guard case .names(let change) = pending[later].change else { continue }
            for earlier in pending.indices.prefix(later) {
                guard case .names(let before) = pending[earlier].change else { continue }
                if Self.needs(change, before) { chosen.insert(earlier) }
            }
        }
        return chosen
    }

    private static func needs(_ later: DiskRecord.NameChange, _ earlier: DiskRecord.NameChange) -> Bool {
        !later.nodes.isDisjoint(with: earlier.nodes)
            || later.entries.contains { one in
                earlier.entries.contains { ($0.folder, $0.name) == (one.folder, one.name) }
            }
            // A name requires that its folder exists.
            || later.entries.contains { earlier.nodes.contains($0.folder) }
            // A folder must be empty before it is removed.
            || later.entries.contains { $0.node == nil } && earlier.entries.contains { later.nodes.contains($0.folder) }
    }

    // MARK: - Possible outcomes

    /// The part of a file's unsynced bytes that reached the disk.
    enum Bytes: Hashable {
        case all, none
        /// The file has its new size, with zeros where it has grown.
        case zeros
        /// The first or the second half of the blocks.
        case firstHalf(block: Int)
        case secondHalf(block: Int)
        /// `without`: all changes of the file's bytes except this one. `last`: only the last change.
        case without(Int)
        case last
    }

    /// The pending changes that reached the disk.
    struct Choice {
        fileprivate var came: Set<Int>
        fileprivate var bytes: [Int: Bytes]
        var words: String
    }

    private var files: [Int] { files { _ in true } }

    private func files(_ counts: (Pending) -> Bool) -> [Int] {
        var files: [Int] = []
        for one in pending where counts(one) {
            if case .bytes(let node, _, _) = one.change, !files.contains(node) { files.append(node) }
        }
        return files
    }

    private func isName(_ index: Int) -> Bool { if case .names = pending[index].change { true } else { false } }

    /// Returns all pending changes that do not depend on this one.
    private func without(_ index: Int) -> Set<Int> {
        Set(pending.indices.filter { !withNeeds([$0]).contains(index) })
    }

    private static let ways: [(Bytes, String)] = [
        (.all, "all bytes"), (.none, "no bytes"), (.zeros, "zeros"), (.firstHalf(block: 4096), "torn at 4096"),
        (.firstHalf(block: 512), "torn at 512"), (.secondHalf(block: 4096), "torn at 4096, the end first"),
    ]

    /// Returns a selection of the possible outcomes of a power cut at this moment. For every number n, there is an
    /// outcome in which only the first n changes reached the disk. For every change of a name, there is an outcome
    /// without this change and the changes that depend on it. In another outcome, only this name and the names that it
    /// needs have changed. In a third, all names up to this one have changed. For each file alone, there is an outcome
    /// for every kind of `Bytes`. For all files together, there is an outcome for each of `ways`. Another `draws`
    /// outcomes are random.
    func choices(draws: Int, random: inout SeededNumbers) -> [Choice] {
        let (all, files) = (Set(pending.indices), files)
        let names = pending.indices.filter(isName)
        func uniform(_ way: Bytes) -> [Int: Bytes] { Dictionary(uniqueKeysWithValues: files.map { ($0, way) }) }
        var choices: [Choice] = []
        for count in 0...pending.count {
            let came = Set(pending.indices.prefix(count))
            choices.append(Choice(came: came, bytes: [:], words: "the first \(count) of \(pending.count) changes"))
        }
        for (way, words) in Self.ways {
            let bytes = uniform(way)
            choices.append(Choice(came: all, bytes: bytes, words: "all names, \(words)"))
            for index in names {
                let text = text(of: index)
                let other = Set(pending.indices.filter { !names.contains($0) })
                choices.append(Choice(came: without(index), bytes: bytes, words: "not \(text), \(words)"))
                choices.append(
                    Choice(came: withNeeds([index]).union(other), bytes: bytes, words: "of the names \(text), \(words)")
                )
                choices.append(
                    Choice(
                        came: Set(names.filter { $0 <= index }).union(other), bytes: bytes,
                        words: "the names up to \(text), \(words)"))
            }
        }
        for file in files {
            let count = pending.count { if case .bytes(file, _, _) = $0.change { true } else { false } }
            let each = (0..<min(count, 12)).map { (Bytes.without($0), "all bytes but change \($0)") }
            for (way, words) in Self.ways + [(.last, "the last change alone")] + each {
                choices.append(Choice(came: all, bytes: [file: way], words: "file \(file) has \(words)"))
            }
        }
        for _ in 0..<min(draws, pending.count * 3) {
            let came = withNeeds(Set(names.filter { _ in Bool.random(using: &random) }))
            let bytes = Dictionary(
                uniqueKeysWithValues: files.map { ($0, Self.ways.randomElement(using: &random)?.0 ?? .all) })
            choices.append(
                Choice(
                    came: came.union(all.subtracting(names)), bytes: bytes,
                    words: "of the names \(came.sorted().map(text)), bytes \(bytes)"))
        }
        return choices
    }

    /// Returns outcomes that are possible only because syncs were left out. Each outcome lacks some changes that the
    /// syncs would have made durable: all changed names, one changed name, or the changed bytes of one file. Changes
    /// that depend on a lacking name are lacking, too. All other changes reached the disk.
    func choicesOwed() -> [Choice] {
        let all = Set(pending.indices)
        let names = pending.indices.filter { pending[$0].isOwed && isName($0) }
        var choices: [Choice] = []
        if names.count > 1 {
            let came = names.reduce(all) { $0.intersection(without($1)) }
            choices.append(Choice(came: came, bytes: [:], words: "not \(names.map(text))"))
        }
        for name in names { choices.append(Choice(came: without(name), bytes: [:], words: "not \(text(of: name))")) }
        for file in files(\.isOwed) {
            for (way, words) in Self.ways.dropFirst() {
                choices.append(Choice(came: all, bytes: [file: way], words: "file \(file) has \(words)"))
            }
        }
        return choices
    }

    private func text(of index: Int) -> String {
        if case .names(let change) = pending[index].change { "'\(change.text)'" } else { "" }
    }

    /// The disk as a running program sees it.
    var latest: DiskImage { image(Set(pending.indices), [:]) }

    func image(_ choice: Choice) -> DiskImage { image(choice.came, choice.bytes) }

    private func image(_ came: Set<Int>, _ ways: [Int: Bytes]) -> DiskImage {
        var image = durable
        var bytes: [Int: [(change: DiskRecord.ByteChange, modified: Int64)]] = [:]
        for (index, one) in pending.enumerated() where came.contains(index) {
            switch one.change {
            case .names(let change): image.apply(change)
            case .bytes(let node, let change, let modified): bytes[node, default: []].append((change, modified))
            }
        }
        for (node, changes) in bytes {
            let way = ways[node] ?? .all
            guard way != .none, let old = image.nodes[node]?.content.bytes, let last = changes.last else { continue }
            image.nodes[node]?.content = DiskImage.Content(way.result(of: changes.map(\.change), on: old))
            image.nodes[node]?.modified = last.modified
        }
        return image
    }
}

extension PowerCut.Bytes {
    fileprivate func result(of changes: [DiskRecord.ByteChange], on old: [UInt8]) -> [UInt8] {
        switch self {
        case .all: Self.made(of: changes, on: old)
        case .none: old
        case .zeros: old + [UInt8](repeating: 0, count: max(0, Self.made(of: changes, on: old).count - old.count))
        case .without(let index):
            Self.made(of: changes.enumerated().filter { $0.offset != index }.map(\.element), on: old)
        case .last: Self.made(of: changes.suffix(1), on: old)
        case .firstHalf(let block):
            Self.made(of: Self.torn(changes, block) { $0.prefix($0.count / 2) }, on: old)
        case .secondHalf(let block):
            Self.made(of: Self.torn(changes, block) { $0.suffix($0.count - $0.count / 2) }, on: old)
        }
    }

    private static func made(of changes: some Sequence<DiskRecord.ByteChange>, on old: [UInt8]) -> [UInt8] {
        var bytes = old
        func grow(_ size: Int) {
            if size > bytes.count { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
        }
        for change in changes {
            switch change {
            case .write(let at, let new):
                grow(at + new.count)
                bytes.replaceSubrange(at..<at + new.count, with: new)
            case .size(let size):
                grow(size)
                bytes.removeLast(bytes.count - size)
            case .room(let size): grow(size)
            case .times: break
            }
        }
        return bytes
    }

    /// Returns the changes with their writes split into blocks. `part` selects the blocks to keep.
    private static func torn(
        _ changes: [DiskRecord.ByteChange], _ block: Int,
        _ part: ([DiskRecord.ByteChange]) -> ArraySlice<DiskRecord.ByteChange>
    ) -> ArraySlice<DiskRecord.ByteChange> {
        part(
            changes.flatMap { change in
                guard case .write(var at, let bytes) = change else { return [change] }
                var pieces: [DiskRecord.ByteChange] = []
                var rest = bytes[...]
                while !rest.isEmpty {
                    let piece = rest.prefix(block - at % block)
                    pieces.append(.write(at: at, Array(piece)))
                    at += piece.count
                    rest = rest.dropFirst(piece.count)
                }
                return pieces
            })
    }
}
