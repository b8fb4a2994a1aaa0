/// A disk that loses its power: what is durable, and what may have come to it or not.
///
/// The rules are POSIX's, which promise less than ext4, XFS and Btrfs, except for the folders above a synced one:
/// - A sync of a file makes its bytes durable, and not its name. A sync of a folder makes the names in it durable, and a
///   file that was moved there, but not that a file has left. Nothing else is durable before it was synced, although it may be.
/// - A folder that was synced is there, with the folders above it, and a name comes only with its folder: ext4 and XFS have one
///   journal for all names, and Btrfs logs the new folders above what is synced.
/// - Unsynced bytes come in any order, in blocks; a file that has grown may have zeros in place of them.
/// - A rename is made whole or not at all, and so is an exchange. Changes of one name, or of the names of one file, keep their
///   order, and a folder is removed only after what lay in it. All other changes of names come in any order.
struct PowerCut {
    private(set) var durable: DiskImage
    private var pending: [Pending] = []

    private struct Pending {
        enum Change {
            case names(DiskRecord.NameChange)
            case bytes(node: Int, DiskRecord.ByteChange, modified: Int64)
        }

        var change: Change
        /// A sync that was left out would have made it durable.
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

    /// A sync that does nothing.
    mutating func leaveOutSync(of node: Int) { for index in forced(by: node) { pending[index].isOwed = true } }

    /// The changes that a sync of this node makes durable.
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

    // MARK: - The order that is kept

    /// Adds the changes without which the chosen ones can't have come.
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
            // A name lies in a folder.
            || later.entries.contains { earlier.nodes.contains($0.folder) }
            // A folder is empty when it goes.
            || later.entries.contains { $0.node == nil } && earlier.entries.contains { later.nodes.contains($0.folder) }
    }

    // MARK: - What may be left

    /// How the unsynced bytes of a file have come.
    enum Bytes: Hashable {
        case all, none
        /// The file has its size, and zeros where it has grown.
        case zeros
        /// The first half of the blocks, or the second.
        case firstHalf(block: Int)
        case secondHalf(block: Int)
        /// All changes but one, or only the last.
        case without(Int)
        case last
    }

    /// What has come of the changes that were not durable.
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

    /// All changes that don't need this one.
    private func without(_ index: Int) -> Set<Int> {
        Set(pending.indices.filter { !withNeeds([$0]).contains(index) })
    }

    private static let ways: [(Bytes, String)] = [
        (.all, "all bytes"), (.none, "no bytes"), (.zeros, "zeros"), (.firstHalf(block: 4096), "torn at 4096"),
        (.firstHalf(block: 512), "torn at 512"), (.secondHalf(block: 4096), "torn at 4096, the end first"),
    ]

    /// A selection of what a cut in this moment may leave: all in order up to any change; any one change of names lost, or alone;
    /// and of the bytes of all files together, or of each file, anything that `Bytes` knows. `draws` more are drawn.
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

    /// What a cut may leave because of the syncs that were left out: all is there but the names, or one name, or the bytes that
    /// they should have kept.
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

    /// The changes with their writes in pieces of a block, of which some are left.
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
